"""Check the status of another machine before a command prints it.

The command line prints the local supervisor's JSON unchanged, because importing the models would be
slow. Another machine may send anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cockpit.client.foreign_answers import ForeignAnswers
from cockpit.client.parsing import WatchLines, parsed
from cockpit.wire.status import Status


def checked_status(answer: bytes, host: str) -> dict[str, Any]:
    """Return the status as plain JSON. Raises `Failed` for an invalid status."""
    status = parsed(Status.model_validate_json, answer)
    return ForeignAnswers(host).status(status).model_dump(mode="json")


def checked_changes(lines: Iterable[bytes], host: str) -> Iterator[dict[str, Any]]:
    """Yield each line of an event stream as plain JSON.

    Skips lines that cannot be read. Raises `Failed` for an invalid snapshot, for a message that
    exceeds a limit, and for too many lines that cannot be read.
    """
    stream = WatchLines(ForeignAnswers(host))
    for line in lines:
        if (message := stream.parse(line)) is not None:
            yield message.model_dump(mode="json")

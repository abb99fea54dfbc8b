"""Check the status of another machine before a command prints it.

The command line prints the local supervisor's JSON as it is, because importing its models would be
slow. Another machine may send anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from cockpit.client.foreign_answers import ForeignAnswers
from cockpit.client.http import is_snapshot, parsed, watch_line
from cockpit.wire.status import Status

HOST = "the host"
"""In errors. The command's user has typed its name."""


def checked_status(answer: bytes) -> dict[str, Any]:
    """Return the status as plain JSON. Raises `Failed` for one that is not valid."""
    status = parsed(Status.model_validate_json, answer)
    return ForeignAnswers(HOST).status(status).model_dump(mode="json")


def checked_changes(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield each line of an event stream as plain JSON.

    Skips lines of a kind that this version does not know. Raises `Failed` for a status that is not
    valid, and for too many lines that cannot be read.
    """
    foreign = ForeignAnswers(HOST)
    invalid = 0
    for line in lines:
        try:
            message = watch_line.validate_json(line)
        except ValidationError:
            if is_snapshot(line):
                parsed(watch_line.validate_json, line)
            invalid += 1
            foreign.invalid_lines(invalid)
            continue
        yield foreign.line(message).model_dump(mode="json")

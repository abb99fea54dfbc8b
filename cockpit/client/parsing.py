"""Parse a supervisor's responses, and the lines of its event stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from cockpit.client.foreign_answers import ForeignAnswers
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.wire.stream import WatchLine

Parsed = TypeVar("Parsed")

_watch_line: TypeAdapter[WatchLine] = TypeAdapter(Annotated[WatchLine, Field(discriminator="type")])


def parsed(parse: Callable[[Any], Parsed], answer: Any) -> Parsed:
    """Parse a supervisor's response. Raises `Failed` for an invalid response."""
    try:
        return parse(answer)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Failed(
            "The supervisor's response is not valid",
            safe_line(str(error), 300),
            "Client and supervisor may have different versions: cockpit doctor",
        ) from error


class WatchLines:
    """Parses the lines of one `/v1/watch` stream.

    `foreign` checks the messages of another machine; None for the local supervisor.
    """

    def __init__(self, foreign: ForeignAnswers | None) -> None:
        self._foreign = foreign
        self._invalid = 0

    def parse(self, line: bytes) -> WatchLine | None:
        """Return the message; None for a message that this version cannot parse.

        Raises `Failed` for an invalid snapshot, because nothing can be shown without a snapshot.
        Also raises `Failed` if another machine sends a message that exceeds a limit, or too many
        lines that cannot be read.
        """
        try:
            message = _watch_line.validate_json(line)
        except ValidationError:
            if _is_snapshot(line):
                parsed(_watch_line.validate_json, line)
            self._invalid += 1
            if self._foreign is not None:
                self._foreign.invalid_lines(self._invalid)
            return None
        return message if self._foreign is None else self._foreign.line(message)


def _is_snapshot(line: bytes) -> bool:
    """Return whether a line has the type of a `Snapshot`. The line need not be valid."""
    return b'"type":"snapshot"' in line[:100].replace(b" ", b"")

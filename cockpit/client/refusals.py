"""Convert the supervisor's responses back into errors.

Standard library and `core` only, because the commands that must start quickly use this module.
"""

from __future__ import annotations

import json
from pathlib import Path

from cockpit.core.errors import (
    BY_EXIT_CODE,
    CockpitError,
    Failed,
    NoSupervisor,
    NotNow,
    Unreachable,
)
from cockpit.core.far_names import commands_on


def refusal(status: int, body: bytes, host: str | None = None) -> CockpitError:
    """Return the error for a response whose HTTP status is not 200.

    With `host`, the name of another machine, the commands in the error get `--host`.

    An older supervisor may send a body that is not a `wire.verbs.Refusal`. In that case, 404, 405
    and 501 mean that the supervisor does not support the request.
    """
    try:
        fields = json.loads(body)
        kind = BY_EXIT_CODE[fields["exit_code"]]
        error = kind(
            str(fields["title"]), str(fields.get("detail", "")), str(fields.get("hint", ""))
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        error = _unexplained(status)
    if host is None:
        return error
    return type(error)(error.title, commands_on(host, error.detail), commands_on(host, error.hint))


def _unexplained(status: int) -> CockpitError:
    if status in (404, 405, 501):
        return NotNow(
            "The running supervisor does not support this",
            f"The response has the status {status}.",
            "The supervisor may be an older version. Run: cockpit doctor",
        )
    return Failed(
        "The supervisor failed to handle this request",
        f"The response has the status {status} and no reason.",
        "See the supervisor's log, in the state folder that `cockpit doctor` prints.",
    )


def not_running(socket: Path | str) -> NoSupervisor:
    """Return the error when nothing listens on the socket."""
    return NoSupervisor(
        "No supervisor is running",
        f"Nothing listens on {socket}.",
        "Start the supervisor: cockpit up",
    )


def unreachable(socket: Path | str, pid: int) -> Unreachable:
    """Return the error for a supervisor that holds its lock but does not listen on the socket."""
    return Unreachable(
        f"A supervisor is running (pid {pid}) but not answering on its socket",
        f"The supervisor is starting or ending, or {socket} was removed and will be recreated in "
        "seconds.",
        f"Try again in a moment. If that fails: kill {pid} (agents keep running), then: cockpit up",
        pid,
    )


def silent(socket: Path | str, seconds: float) -> NoSupervisor:
    """Return the error when the supervisor does not accept a connection or respond in time."""
    return NoSupervisor(
        "The supervisor does not answer",
        f"No data from {socket} in {seconds:g} s.",
        "Find out why: cockpit doctor",
    )


def lost(socket: Path | str) -> NoSupervisor:
    """Return the error when the connection ends in the middle of a response."""
    return NoSupervisor(
        "Lost connection to the supervisor",
        f"The connection to {socket} ended in the middle of a response.",
        "If the supervisor has ended, start it: cockpit up",
    )

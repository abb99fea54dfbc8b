"""Turning what the supervisor answers back into the error that it was.

Standard library and `core` only: the fast path of the command line uses it too.
"""

from __future__ import annotations

import json
from pathlib import Path

from cockpit.core.errors import BY_EXIT_CODE, CockpitError, Failed, NoSupervisor, NotNow


def refusal(status: int, body: bytes) -> CockpitError:
    """The error behind an answer whose HTTP status is not 200.

    A body that is no `wire.verbs.Refusal` (an older supervisor, a fault inside it) still becomes
    an error with a reason: 404, 405 and 501 mean that it has no such verb.
    """
    try:
        said = json.loads(body)
        kind = BY_EXIT_CODE[said["exit_code"]]
        return kind(str(said["title"]), str(said.get("detail", "")), str(said.get("hint", "")))
    except (ValueError, KeyError, TypeError):
        return _unexplained(status)


def _unexplained(status: int) -> CockpitError:
    if status in (404, 405, 501):
        return NotNow(
            "This supervisor cannot do that yet",
            f"It answered {status}.",
            "Compare `cockpit --version` with the version that `cockpit doctor` names.",
        )
    return Failed(
        "The supervisor failed on this request",
        f"It answered {status} without a reason.",
        "Its log, in the state folder that `cockpit doctor` names, has the reason.",
    )


def nobody(socket: Path | str) -> NoSupervisor:
    """Nobody listens on the socket."""
    return NoSupervisor(
        "No supervisor is running",
        f"Nobody answers on {socket}.",
        "Start it with: cockpit up",
    )


def silent(socket: Path | str, seconds: float) -> NoSupervisor:
    """Somebody listens, and says nothing in time."""
    return NoSupervisor(
        "The supervisor does not answer",
        f"Nothing came from {socket} in {seconds:g} s.",
        "See what it is doing with: cockpit doctor",
    )


def lost(socket: Path | str) -> NoSupervisor:
    """The connection ended in the middle of an answer."""
    return NoSupervisor(
        "The supervisor went away",
        f"The connection to {socket} ended in the middle of an answer.",
        "Start it again with: cockpit up",
    )

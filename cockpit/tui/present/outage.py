"""The message for a lost connection, and what the user can do."""

from __future__ import annotations

from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span
from cockpit.tui.state.model import Connection, Model

LOST = "○"


def outage(model: Model) -> list[Span]:
    """The message and the next step while no supervisor answers; empty otherwise.

    Without a time, so that an idle screen is not redrawn.
    """
    connection = model.main.connection
    if model.any_live or connection.lost_at is None:
        return []
    if model.is_joined:
        said, step = "no host answers", "retrying each automatically"
    else:
        far = model.main.host if model.main.is_far else None
        said, step = _nobody(connection, far), remedy(connection, far)
    return [
        Span(f" {LOST} {said}  ", "error"),
        Span(f"{step}. This is the last known state."),
    ]


def _nobody(connection: Connection, far: str | None) -> str:
    if connection.incompatible:
        return "the supervisor runs another version"
    return f"{safe_line(far, 24)} does not answer" if far else "no supervisor answers"


def lost(connection: Connection, now: float, far: str | None) -> str:
    """The same with the time since, for screens that redraw every minute."""
    if connection.lost_at is None:
        return f"connecting to {safe_line(far, 24)}…" if far else "connecting to the supervisor…"
    seconds = now - connection.lost_at
    age = f"{words.age(seconds)} ago" if seconds >= 60 else "just now"
    if connection.incompatible:
        return _nobody(connection, far)
    if far:
        return f"{safe_line(far, 24)} {LOST} lost {age}: {safe_line(connection.why, 200)}"
    return f"{_nobody(connection, far)} · last seen {age}"


def remedy(connection: Connection, far: str | None) -> str:
    """What the user can do, besides waiting."""
    if connection.lost_at is None:
        return ""
    if far:
        return f"to check: cockpit doctor --host {safe_line(far, 24)}"
    return "cockpit restart" if connection.incompatible else "start it: cockpit up"

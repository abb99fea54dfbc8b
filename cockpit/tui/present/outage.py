"""That nobody answers, in the words of every screen, and what the pilot can do about it."""

from __future__ import annotations

from cockpit.core.safetext import safe_line
from cockpit.tui.model import Connection, Model
from cockpit.tui.present import words
from cockpit.tui.present.span import Span

LOST = "○"


def outage(model: Model) -> list[Span]:
    """For a screen of what was: that nothing new comes, and the next step; empty while it comes.

    Without a time, so that it stands still.
    """
    connection = model.main.connection
    if model.any_live or connection.lost_at is None:
        return []
    if model.is_joined:
        said, step = "no host answers", "each is tried again by itself"
    else:
        far = model.main.host if model.main.is_far else None
        said, step = _nobody(connection, far), remedy(connection, far)
    return [
        Span(f" {LOST} {said}  ", "error"),
        Span(f"{step}. What stands here is from before."),
    ]


def _nobody(connection: Connection, far: str | None) -> str:
    if connection.strange:
        return "the supervisor is of another version"
    return f"{safe_line(far, 24)} does not answer" if far else "no supervisor answers"


def lost(connection: Connection, now: float, far: str | None) -> str:
    """The same with since when, for where the time is drawn anew each minute."""
    if connection.lost_at is None:
        return f"asking {safe_line(far, 24)}…" if far else "asking the supervisor…"
    seconds = now - connection.lost_at
    age = f"{words.age(seconds)} ago" if seconds >= 60 else "just now"
    if connection.strange:
        return _nobody(connection, far)
    if far:
        return f"{safe_line(far, 24)} {LOST} lost {age}: {safe_line(connection.why, 200)}"
    return f"{_nobody(connection, far)} · last seen {age}"


def remedy(connection: Connection, far: str | None) -> str:
    """What the pilot can do, besides waiting."""
    if connection.lost_at is None:
        return ""
    if far:
        return f"by hand: cockpit doctor --host {safe_line(far, 24)}"
    return "cockpit down, then cockpit up" if connection.strange else "start it: cockpit up"

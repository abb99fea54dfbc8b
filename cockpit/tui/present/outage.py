"""The message for a lost connection, and the user's next step."""

from __future__ import annotations

from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span
from cockpit.tui.state.model import Connection, Model

LOST = "○"


def outage(model: Model) -> list[Span]:
    """Return the message and the next step after the connections to all supervisors were lost.

    Empty while a supervisor is reachable, and before the first failure. The message has no time, so
    that an idle screen is not redrawn.
    """
    connection = model.main.connection
    if model.any_live or connection.lost_at is None:
        return []
    if model.is_joined:
        problem, step = "no host is reachable", "retrying automatically"
    else:
        remote_host = model.main.host if model.main.is_remote else None
        problem, step = _no_supervisor(connection, remote_host), remedy(connection, remote_host)
    return [
        Span(f" {LOST} {problem}  ", "error"),
        Span(f"{step}. Showing the last known state."),
    ]


def _no_supervisor(connection: Connection, remote_host: str | None) -> str:
    if connection.incompatible:
        return "the supervisor runs another version"
    return (
        f"{safe_line(remote_host, 24)} does not answer" if remote_host else "supervisor unreachable"
    )


def lost(connection: Connection, now: float, remote_host: str | None) -> str:
    """Return the message for a connection that is not live: connecting, another version, or lost.

    A lost connection is shown with the time since the loss.
    """
    if connection.lost_at is None:
        return (
            f"connecting to {safe_line(remote_host, 24)}…"
            if remote_host
            else "connecting to the supervisor…"
        )
    seconds = now - connection.lost_at
    age = f"{words.age(seconds)} ago" if seconds >= 60 else "just now"
    if connection.incompatible:
        return _no_supervisor(connection, remote_host)
    if remote_host:
        return f"{safe_line(remote_host, 24)} {LOST} lost {age}: {safe_line(connection.why, 200)}"
    return f"{_no_supervisor(connection, remote_host)} · last seen {age}"


def remedy(connection: Connection, remote_host: str | None) -> str:
    """Return the user's next step, apart from waiting; empty while connecting."""
    if connection.lost_at is None:
        return ""
    if remote_host:
        return f"to check: cockpit doctor --host {safe_line(remote_host, 24)}"
    return "restart it: cockpit restart" if connection.incompatible else "start it: cockpit up"

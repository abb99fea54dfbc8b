"""Read Gemini's status from the title of its pane: ready, working, or waiting for an answer.

In 0.61.0, "Action Required" can appear some seconds after the dialog. If the user disables titles
in Gemini's settings, the title has no status.
"""

from __future__ import annotations

from cockpit.ports.runtimes import Activity, Presence

_SIGNS = {
    "◇": Activity.IDLE,
    "✦": Activity.BUSY,
    "⏲": Activity.BUSY,
    "✋": Activity.WAITING,
}
PERMISSION = "permission: answer in the agent's pane"


def presence_in(title: str) -> Presence | None:
    """Return the status in the title; None if the title does not begin with one of `_SIGNS`."""
    activity = _SIGNS.get(title[:1])
    if activity is None:
        return None
    return Presence(activity, PERMISSION if activity is Activity.WAITING else None)

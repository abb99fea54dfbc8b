"""Recognise the dialogs of Copilot that come before a session: trust, login.

No hook has run at that point, so cockpit reads the screen. cockpit does not answer these dialogs.
The texts are those of 1.0.102.
"""

from __future__ import annotations

import re

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_DIALOGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Confirm folder trust|Do you trust the files in this folder", re.I),
     "Copilot asks whether you trust this folder"),
    (re.compile(r"(Please|Use) .{0,20}/login|You are not logged in|Select an? account", re.I),
     "Copilot asks you to log in"),
)  # fmt: skip

_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def first_dialog(screen: Screen) -> str | None:
    """Return the dialog's question and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), 400) for line in screen.lines)
    for pattern, words in _DIALOGS:
        if pattern.search(text):
            return f"{words}; answer in the agent's pane"
    return None

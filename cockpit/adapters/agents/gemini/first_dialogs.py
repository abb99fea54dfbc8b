"""Recognise the dialogs of Gemini CLI that come before a session: trust and login.

No hook has run at that point, so cockpit reads the screen. cockpit does not answer these dialogs.
The texts are those of 0.61.0.
"""

from __future__ import annotations

import re

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_DIALOGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Do you trust the files in this folder\?", re.I),
     "Gemini asks whether you trust this folder"),
    (re.compile(r"How would you like to authenticate|Enter Gemini API Key|Waiting for auth", re.I),
     "Gemini asks you to log in"),
)  # fmt: skip

_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def first_dialog(screen: Screen) -> str | None:
    """Return the dialog's question and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), 400) for line in screen.lines)
    for pattern, words in _DIALOGS:
        if pattern.search(text):
            return f"{words}; answer in the agent's pane"
    return None

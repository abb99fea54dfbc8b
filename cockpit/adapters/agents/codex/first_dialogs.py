"""Recognise the dialogs of Codex that come before a session: trust, login, hooks.

No hook has run at that point, so cockpit reads the screen. cockpit does not answer these dialogs.
The texts are those of 0.169.0.
"""

from __future__ import annotations

import re

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_DIALOGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Trust this folder\?|1\. Open restricted", re.I),
     "Codex asks whether you trust this folder"),
    (re.compile(r"Hooks need review|hooks? (is|are) new or changed", re.I),
     "Codex asks about hooks that you have not trusted"),
    (re.compile(r"Choose how you want to use Codex|Sign in with ChatGPT", re.I),
     "Codex asks you to log in"),
    (re.compile(r"Working directory · resume", re.I), "Codex asks which directory to resume in"),
    (re.compile(r"open in another app", re.I), "the session is open in another process"),
)  # fmt: skip

_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def first_dialog(screen: Screen) -> str | None:
    """Return the dialog's question and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), 400) for line in screen.lines)
    for pattern, words in _DIALOGS:
        if pattern.search(text):
            return f"{words}; answer in the agent's pane"
    return None

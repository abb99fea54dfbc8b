"""Recognise the dialogs that come before a session: trust, login and first-run choices.

No hook has run at that point, so cockpit reads the screen. cockpit does not answer these dialogs.
"""

from __future__ import annotations

import re

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_DIALOGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"trust (the files in )?this (folder|project|workspace)|do you trust", re.I),
     "Claude Code asks whether you trust this folder"),
    (re.compile(r"bypass permissions mode", re.I), "Claude Code asks about bypassing permissions"),
    (re.compile(r"select login method|log in to|please run /login|sign in", re.I),
     "Claude Code asks you to log in"),
    (re.compile(r"custom api key", re.I), "Claude Code asks about an API key"),
    (re.compile(r"choose the text style|dark mode.*light mode", re.I | re.S),
     "Claude Code shows first-run choices"),
    (re.compile(r"mcp servers? found", re.I), "Claude Code asks about MCP servers"),
)  # fmt: skip

_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def first_dialog(screen: Screen) -> str | None:
    """Return the dialog's question and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), 400) for line in screen.lines)
    for pattern, words in _DIALOGS:
        if pattern.search(text):
            return f"{words}; answer in the agent's pane"
    return None

"""Recognise the dialogs of opencode that come before a session, such as a login.

The plugin has not reported anything at that point, so cockpit reads the screen. cockpit does not
answer these dialogs. The texts are those of 1.18.33.
"""

from __future__ import annotations

import re

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_DIALOGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Connect a provider", re.I), "opencode asks you to connect a provider"),
    (re.compile(r"Configuration is invalid|ConfigInvalidError|ConfigJsonError"),
     "opencode cannot read its configuration"),
)  # fmt: skip

_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def first_dialog(screen: Screen) -> str | None:
    """Return the dialog's question and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), 400) for line in screen.lines)
    for pattern, words in _DIALOGS:
        if pattern.search(text):
            return f"{words}; answer in the agent's pane"
    return None

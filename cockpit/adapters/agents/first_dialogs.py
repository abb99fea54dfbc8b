"""Recognise the dialogs that a CLI shows before a session, such as trust and login.

No hook runs while such a dialog is open, so cockpit reads the screen. cockpit never answers these
dialogs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

ANSWER = "answer in the agent's pane"
DO_SO = "do so in the agent's pane"


class FirstDialog(NamedTuple):
    """A dialog or an error that a CLI shows before a session."""

    pattern: re.Pattern[str]
    """Matches the screen that shows the dialog."""
    description: str
    step: str = ANSWER
    """What the user has to do, as a clause that follows a semicolon."""


FirstDialogs = Sequence[FirstDialog]
"""The dialogs of one CLI. If several match the screen, the first is used."""
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_LONGEST = 400


def dialog_on(screen: Screen, dialogs: FirstDialogs) -> str | None:
    """Return the dialog's description and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), _LONGEST) for line in screen.lines)
    for dialog in dialogs:
        if dialog.pattern.search(text):
            return f"{dialog.description}; {dialog.step}"
    return None

"""Recognise the dialogs that a CLI shows before a session, such as trust and login.

No hook runs while such a dialog is open, so cockpit reads the screen. cockpit never answers these
dialogs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

FirstDialogs = Sequence[tuple[re.Pattern[str], str]]
"""Pairs of a pattern for the screen and a description of the dialog; the first match is used."""
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_LONGEST = 400


def dialog_on(screen: Screen, dialogs: FirstDialogs) -> str | None:
    """Return the dialog's description and the next step; None if no dialog is recognised."""
    text = "\n".join(safe_line(_SGR.sub("", line), _LONGEST) for line in screen.lines)
    for pattern, description in dialogs:
        if pattern.search(text):
            return f"{description}; answer in the agent's pane"
    return None

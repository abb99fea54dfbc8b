"""The dialogs that Gemini CLI shows before a session: trust and login.

The texts are those of 0.61.0.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import DO_SO, FirstDialog, FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    FirstDialog(
        re.compile(r"Do you trust the files in this folder\?", re.I),
        "Gemini asks whether you trust this folder",
    ),
    FirstDialog(
        re.compile(
            r"How would you like to authenticate|Enter Gemini API Key|Waiting for auth", re.I
        ),
        "Gemini asks you to log in",
        DO_SO,
    ),
)


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

"""The dialogs that Copilot shows before a session: trust and login.

The texts are those of 1.0.102.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import DO_SO, FirstDialog, FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    FirstDialog(
        re.compile(r"Confirm folder trust|Do you trust the files in this folder", re.I),
        "Copilot asks whether you trust this folder",
    ),
    FirstDialog(
        re.compile(r"(Please|Use) .{0,20}/login|You are not logged in|Select an? account", re.I),
        "Copilot asks you to log in",
        DO_SO,
    ),
)


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

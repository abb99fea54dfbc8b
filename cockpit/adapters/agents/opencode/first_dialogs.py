"""The dialogs and errors that opencode shows before a session.

The texts are those of 1.18.33.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import DO_SO, FirstDialog, FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    FirstDialog(
        re.compile(r"Connect a provider", re.I), "opencode asks you to connect a provider", DO_SO
    ),
    FirstDialog(
        re.compile(r"Configuration is invalid|ConfigInvalidError|ConfigJsonError"),
        "opencode cannot read its configuration",
        "correct the file that the agent's pane names, then start the agent again",
    ),
)


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

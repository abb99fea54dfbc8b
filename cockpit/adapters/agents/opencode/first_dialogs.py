"""The dialogs and errors that opencode shows before a session.

The texts are those of 1.18.33.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    (re.compile(r"Connect a provider", re.I), "opencode asks you to connect a provider"),
    (re.compile(r"Configuration is invalid|ConfigInvalidError|ConfigJsonError"),
     "opencode cannot read its configuration"),
)  # fmt: skip


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

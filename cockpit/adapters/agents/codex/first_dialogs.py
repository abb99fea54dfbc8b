"""The dialogs that Codex shows before a session, such as trust, login and hooks.

The texts are those of 0.169.0.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import DO_SO, FirstDialog, FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    FirstDialog(
        re.compile(r"Trust this folder\?|1\. Open restricted", re.I),
        "Codex asks whether you trust this folder",
    ),
    FirstDialog(
        re.compile(r"Hooks need review|hooks? (is|are) new or changed", re.I),
        "Codex asks about hooks that you have not trusted",
    ),
    FirstDialog(
        re.compile(r"Choose how you want to use Codex|Sign in with ChatGPT", re.I),
        "Codex asks you to log in",
        DO_SO,
    ),
    FirstDialog(
        re.compile(r"Working directory · resume", re.I), "Codex asks which directory to resume in"
    ),
    FirstDialog(
        re.compile(r"open in another app", re.I),
        "the session is open in another process",
        "close the session in that process, then press R in the agent's pane",
    ),
)


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

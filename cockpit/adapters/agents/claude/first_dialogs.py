"""The dialogs that Claude Code shows before a session, such as trust and login."""

from __future__ import annotations

import re

from cockpit.adapters.agents.first_dialogs import DO_SO, FirstDialog, FirstDialogs, dialog_on
from cockpit.ports.panes import Screen

_DIALOGS: FirstDialogs = (
    FirstDialog(
        re.compile(r"trust (the files in )?this (folder|project|workspace)|do you trust", re.I),
        "Claude Code asks whether you trust this folder",
    ),
    FirstDialog(
        re.compile(r"bypass permissions mode", re.I), "Claude Code asks about bypassing permissions"
    ),
    FirstDialog(
        re.compile(r"select login method|log in to|please run /login|sign in", re.I),
        "Claude Code asks you to log in",
        DO_SO,
    ),
    FirstDialog(re.compile(r"custom api key", re.I), "Claude Code asks about an API key"),
    FirstDialog(
        re.compile(r"choose the text style|dark mode.*light mode", re.I | re.S),
        "Claude Code shows first-run choices",
        "choose in the agent's pane",
    ),
    FirstDialog(re.compile(r"mcp servers? found", re.I), "Claude Code asks about MCP servers"),
)


def first_dialog(screen: Screen) -> str | None:
    """Return the startup dialog's description and the next step; None if none is open."""
    return dialog_on(screen, _DIALOGS)

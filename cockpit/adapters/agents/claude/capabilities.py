"""The capabilities of Claude Code (2.1.330)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=Yes("from the status line"),
    activity=(Source.HOOKS, Source.TRANSCRIPT, Source.NOTE),
    mid_turn=Yes("after the next tool call"),
    turn_end=Yes(),
    dialogs=Yes(),
    answers=Yes("commands, files, web pages, plans and questions"),
    api_errors=Yes("from a hook"),
    compactions=Yes(),
    held_compactions=Yes("for some seconds"),
    drafts=Yes(),
    copies=Yes("through a fork"),
    cost=Yes(),
    reopening=Yes("in the same directory"),
    tools=Yes("through a plugin for this run"),
    background=Yes(),
    session_ends=Yes(),
)

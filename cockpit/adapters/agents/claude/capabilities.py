"""The capabilities of Claude Code (2.1.330)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=Yes("by the status line"),
    activity=(Source.HOOKS, Source.TRANSCRIPT, Source.NOTE),
    mid_turn=Yes("after the next tool call"),
    turn_end=Yes(),
    dialogs=Yes(),
    api_errors=Yes("by a hook"),
    compactions=Yes(),
    held_compactions=Yes("some seconds"),
    drafts=Yes(),
    copies=Yes("by a fork"),
    cost=Yes(),
    reopening=Yes("in the same directory"),
    tools=Yes("by a plugin of the run"),
    background=Yes(),
    session_ends=Yes(),
)

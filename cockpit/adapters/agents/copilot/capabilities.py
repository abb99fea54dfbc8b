"""The capabilities of GitHub Copilot CLI (1.0.102)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=Yes("by the transcript"),
    activity=(Source.HOOKS, Source.TRANSCRIPT),
    mid_turn=Yes("after the next tool call"),
    turn_end=Yes("as a prompt"),
    dialogs=Yes(),
    api_errors=Yes("by the transcript"),
    compactions=Yes(),
    held_compactions=Yes("some seconds"),
    drafts=Yes(),
    copies=Yes("by a copy of its folder"),
    cost=No("Copilot counts requests, not money"),
    reopening=Yes("in the same directory"),
    tools=Yes("by a plugin of the run"),
    background=No("Copilot does not report it"),
    escapes=2,
    session_ends=No("Copilot does not report it"),
)

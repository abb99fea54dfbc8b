"""The capabilities of GitHub Copilot CLI (1.0.102)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=Yes("from the transcript"),
    activity=(Source.HOOKS, Source.TRANSCRIPT),
    mid_turn=Yes("after the next tool call"),
    turn_end=Yes("as a prompt"),
    dialogs=Yes(),
    api_errors=Yes("from the transcript"),
    compactions=Yes(),
    held_compactions=Yes("for some seconds"),
    drafts=Yes(),
    copies=Yes("through a copy of the session's folder"),
    cost=No("Copilot counts requests, not money"),
    reopening=Yes("in the same directory"),
    tools=Yes("through a plugin for this run"),
    background=No("not reported by Copilot"),
    escapes=2,
    session_ends=No("not reported by Copilot"),
)

"""The capabilities of Gemini CLI (0.61.0); most of them need cockpit's extension."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=No("Gemini does not name it; a table does"),
    activity=(Source.HOOKS, Source.TRANSCRIPT, Source.TITLE, Source.SCREEN),
    mid_turn=Yes("after the next tool call, with cockpit's extension"),
    turn_end=Yes("without cockpit's extension as a prompt"),
    dialogs=Yes("without cockpit's extension later, and without its command"),
    api_errors=Yes("by the transcript; a usage limit by its screen"),
    compactions=Yes("by the transcript"),
    held_compactions=No("its hook comes before every request, also without a compaction"),
    drafts=Yes("by a policy of the run"),
    copies=Yes("by a copy of the transcript"),
    cost=No("Gemini does not report it"),
    reopening=Yes("in the same directory"),
    tools=No("Gemini takes servers only for all sessions; register `cockpit mcp`"),
    background=No("Gemini does not report it"),
    session_ends=Yes("with cockpit's extension"),
    may_lose_enter=True,
)

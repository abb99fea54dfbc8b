"""The capabilities of Gemini CLI (0.61.0); some of them need cockpit's extension."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.GIVEN,
    readings=Yes("per reply"),
    window=No("not reported by Gemini; cockpit uses a built-in table"),
    activity=(Source.HOOKS, Source.TRANSCRIPT, Source.TITLE, Source.SCREEN),
    mid_turn=Yes("after the next tool call, with cockpit's extension"),
    turn_end=Yes("as a prompt without cockpit's extension"),
    dialogs=Yes("without cockpit's extension: some seconds later, and without the command"),
    api_errors=Yes("from the transcript; usage limits from the screen"),
    compactions=Yes("from the transcript"),
    held_compactions=No(
        "Gemini runs its compaction hook before every request, not only before a compaction"
    ),
    drafts=Yes("through a policy file for this run"),
    copies=Yes("through a copy of the transcript"),
    cost=No("not reported by Gemini"),
    reopening=Yes("in the same directory"),
    tools=No("Gemini cannot add an MCP server for one session; register `cockpit mcp` yourself"),
    background=No("not reported by Gemini"),
    session_ends=Yes("with cockpit's extension"),
    may_lose_enter=True,
    compacts_before_prompts=True,
    restart_status=199,
)

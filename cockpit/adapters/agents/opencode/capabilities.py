"""The capabilities of opencode (1.18.33)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

CAPABILITIES = Capabilities(
    session_ids=SessionIds.MINTED,
    readings=Yes("per reply, after its tools"),
    window=Yes("from the transcript"),
    activity=(Source.HOOKS, Source.TRANSCRIPT),
    mid_turn=Yes("after the next tool call"),
    turn_end=Yes("as a prompt"),
    dialogs=Yes(),
    api_errors=Yes("from the transcript"),
    compactions=Yes(),
    held_compactions=Yes("for some seconds"),
    drafts=Yes("not in `plan`"),
    copies=Yes("with `opencode run --fork`"),
    cost=Yes("if the provider has prices"),
    reopening=Yes("in the same directory"),
    tools=Yes("through the environment"),
    background=No("not reported by opencode"),
    escapes=2,
    session_ends=No("not reported by opencode"),
)

"""The capabilities of Codex (0.169.0)."""

from __future__ import annotations

from cockpit.core.capabilities import Capabilities, No, SessionIds, Source, Yes

_ASKS = (
    "Codex asks you before each commit, because .git is read-only in its sandbox "
    '(permission_mode = "bypassPermissions" removes the sandbox)'
)
COMMITS = {
    "": "Codex asks you before each commit, unless your Codex configuration removes its sandbox",
    "default": _ASKS,
    "acceptEdits": _ASKS,
    "dontAsk": "Codex cannot commit in this permission mode: .git is read-only in its sandbox, and "
    'this mode never asks ("acceptEdits" asks you before each commit, "bypassPermissions" removes '
    "the sandbox)",
}

CAPABILITIES = Capabilities(
    session_ids=SessionIds.MINTED,
    readings=Yes("per reply"),
    window=Yes("from the transcript"),
    activity=(Source.HOOKS, Source.TRANSCRIPT),
    mid_turn=Yes("after the next command"),
    turn_end=Yes(),
    dialogs=Yes(),
    api_errors=Yes("from the transcript"),
    compactions=Yes(),
    held_compactions=No("a hook could only end the turn"),
    drafts=No("Codex's sandbox decides; it allows edits in every mode except `plan`"),
    copies=Yes("with `codex exec fork`"),
    cost=No("not reported by Codex"),
    reopening=Yes("in the same directory"),
    tools=Yes("through an argument"),
    background=No("not reported by Codex"),
    session_ends=Yes(),
    commits=COMMITS,
    end_keys=("C-d",),  # a signal ends Codex too, but without the user's `SessionEnd` hooks
)

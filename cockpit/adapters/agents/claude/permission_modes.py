"""Permission modes of Claude Code (2.1.330). cockpit's configuration uses the same names."""

from __future__ import annotations

from cockpit.core.permission import ASKS_FIRST, EVERYTHING, Asks, Modes, Right, Rights

_EDITS = frozenset({Right.EDIT})

MODES: Modes = {
    "plan": Rights(asks=Asks.ALL_BUT_EDITS),
    "default": ASKS_FIRST,
    "manual": ASKS_FIRST,
    "acceptEdits": Rights(_EDITS),
    # Refuses everything that the user's rules do not allow.
    "dontAsk": Rights(asks=Asks.NOTHING),
    "auto": Rights(_EDITS | {Right.JUDGED}),
    "bypassPermissions": EVERYTHING,
}

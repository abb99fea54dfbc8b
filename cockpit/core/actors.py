"""Names of the users who send requests, as `login@machine`, and texts about their last actions.

The client sends the name and cockpit cannot check it, so cockpit only shows the name.
"""

from __future__ import annotations

import re

HEADER = "From"
"""The HTTP header with the user's name."""
_ACTOR = re.compile(r"[A-Za-z0-9._-]{1,32}@[A-Za-z0-9._-]{1,64}")
_DONE = {
    "approve": "approved",
    "refuse": "refused",
    "snooze": "snoozed",
    "answer": "answered",
    "handoff": "handoff requested",
    "undo": "handoff undone",
    "stop": "stopped",
    "start": "started",
    "send": "prompt sent",
    "done": "marked as done",
}
"""The texts for `what_was_done`, by verb. Contains the verbs that answer an agent or change an
agent's work."""
REMEMBERED = frozenset(_DONE)
"""The verbs that cockpit remembers as the user's last action on an agent."""
ANSWERS = frozenset({"approve", "refuse", "snooze", "answer"})
"""The verbs that decide on a handoff (`approve`, `refuse`, `snooze`) or answer a dialog
(`answer`)."""


def actor_name(login: str, machine: str) -> str:
    """Return `login@machine` without the machine's domain; a missing part becomes `unknown`.

    Characters that a name cannot have become `-`. The login is cut to 32 characters, the machine
    to 64.
    """
    return f"{_plain(login)[:32] or 'unknown'}@{_plain(machine.split('.')[0])[:64] or 'unknown'}"


def _plain(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", word)


def actor_of(header: str) -> str:
    """Return the user's name from a `From` header; empty if the header has no valid name."""
    return header if _ACTOR.fullmatch(header) else ""


def what_was_done(verb: str, by: str, ago: str) -> str:
    """Return a clause about a user's last request, such as `approved by ana@laptop 5 s ago`."""
    return f"{_DONE.get(verb, verb)} by {by} {ago}"


def ago(seconds: float) -> str:
    """Format an elapsed time: `just now`, `5 s ago`, `2 min ago`, `3 h ago`."""
    if seconds < 1:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 3600 else f"{seconds / 3600:.0f} h ago"

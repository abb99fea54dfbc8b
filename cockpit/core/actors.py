"""The user behind a request, as `login@machine`, and what a user last did to an agent.

The client names the user itself. The name is only shown: it decides nothing.
"""

from __future__ import annotations

import re

HEADER = "From"
"""The HTTP header that contains the user."""
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
"""The verbs that change what an agent asks or does, each as a past participle for messages."""
REMEMBERED = frozenset(_DONE)
ANSWERS = frozenset({"approve", "refuse", "snooze", "answer"})
"""The verbs that answer a question of an agent."""


def actor_name(login: str, machine: str) -> str:
    """Return `login@machine`, without the machine's domain."""
    return f"{_plain(login)[:32] or 'unknown'}@{_plain(machine.split('.')[0])[:64] or 'unknown'}"


def _plain(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", word)


def actor_of(header: str) -> str:
    """Return the user in a header; empty if it contains none."""
    return header if _ACTOR.fullmatch(header) else ""


def what_was_done(verb: str, by: str, ago: str) -> str:
    """Return a clause such as `approved by ana@laptop 5 s ago`."""
    return f"{_DONE.get(verb, verb)} by {by} {ago}"


def ago(seconds: float) -> str:
    """Format a time that has passed: `just now`, `5 s ago`, `2 min ago`, `3 h ago`."""
    if seconds < 1:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 3600 else f"{seconds / 3600:.0f} h ago"

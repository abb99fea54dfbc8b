"""Build hook responses in Claude Code's format, which other CLIs accept too.

The supervisor decides when a hook prints a response. Text for the model is at most 10,000
characters: Claude Code writes a longer text to a file, and the model gets only the beginning.
"""

from __future__ import annotations

from typing import Any

from cockpit.core.errors import Failed

INJECTED_CHARACTERS = 10_000

CONTEXT_EVENTS = frozenset(
    {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"}
)
"""Events at which a hook can add context without blocking anything."""

BLOCKABLE_EVENTS = frozenset({"Stop"})
"""Events that cockpit may block. `PreCompact` is left out: if the next request does not fit the
window, the CLI cannot continue without the compaction."""


def additional_context(event: str, text: str) -> dict[str, Any]:
    """Return a hook response that adds `text` to the model's context.

    Raises `Failed` for an event that is not in `CONTEXT_EVENTS`, and for a text that is too long.
    """
    if event not in CONTEXT_EVENTS:
        raise Failed(f"{event!a} does not accept added context")
    return {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": bounded(text)},
    }


def block(event: str, reason: str) -> dict[str, Any]:
    """Return a response that blocks the event. At `Stop`, the turn continues, and the model reads
    `reason`.

    Raises `Failed` for an event that is not in `BLOCKABLE_EVENTS`, and for a reason that is too
    long.
    """
    if event not in BLOCKABLE_EVENTS:
        raise Failed(f"cockpit cannot block {event!a}")
    return {"decision": "block", "reason": bounded(reason)}


def bounded(text: str) -> str:
    """Return the text; raise `Failed` if it is too long for a hook response."""
    if len(text) > INJECTED_CHARACTERS:
        raise Failed(
            f"A text of {len(text):,} characters is too long for a hook's response",
            f"The CLI's limit is {INJECTED_CHARACTERS:,}.",
            "Write the text to a file, and send the file's path instead.",
        )
    return text

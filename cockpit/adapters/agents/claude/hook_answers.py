"""What a hook of Claude Code may answer, as the reporter prints it.

Builds answers; when they are given is the supervisor's business. Text that reaches the model is
at most 10,000 characters: a longer one would be put into a file by the CLI, and only its
beginning seen.
"""

from __future__ import annotations

from typing import Any

from cockpit.core.errors import Failed

INJECTED_CHARACTERS = 10_000

CONTEXT_EVENTS = frozenset(
    {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"}
)
"""Where added context reaches the model without being a refusal."""

BLOCKABLE_EVENTS = frozenset({"Stop"})
"""What we refuse; never `PreCompact`: a CLI whose request no longer fits could not go on."""


def additional_context(event: str, text: str) -> dict[str, Any]:
    """Tell the model something at this event; mid-turn for `PostToolUse`."""
    if event not in CONTEXT_EVENTS:
        raise Failed(f"{event!a} takes no added context")
    return {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": _bounded(text)},
    }


def block(event: str, reason: str) -> dict[str, Any]:
    """Refuse what the event is about: at `Stop` the turn goes on, with the reason to read."""
    if event not in BLOCKABLE_EVENTS:
        raise Failed(f"{event!a} cannot be refused")
    return {"decision": "block", "reason": _bounded(reason)}


def _bounded(text: str) -> str:
    if len(text) > INJECTED_CHARACTERS:
        raise Failed(
            f"A text of {len(text):,} characters is too long for a hook's answer",
            f"The CLI passes on at most {INJECTED_CHARACTERS:,}.",
            "Name a file in it instead.",
        )
    return text

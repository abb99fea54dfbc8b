"""What the simulated model of a real CLI replies, and how long its states may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.demo.conversation import Reply, TokenCount, ToolCall

if TYPE_CHECKING:
    from cockpit.wire.status import AgentStatus

SLOW = 240.0
"""Seconds to wait for one state. On a busy machine, a CLI took 80 of them to start."""


def say(text: str, tokens: int = 20_000) -> Reply:
    """A reply that ends the turn."""
    return Reply(text, tokens=TokenCount(cache_read=tokens))


def bash(command: str, tokens: int = 20_000, **given: str) -> Reply:
    """A reply that runs a command; `given` are other parameters of the tool."""
    call = ToolCall("Bash", {"command": command, **given})
    return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=tokens))


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None

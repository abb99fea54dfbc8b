"""Short ways to write the events of a transcript."""

from __future__ import annotations

from typing import Any

from cockpit.core.collect import Collector
from cockpit.core.facts import Facts
from cockpit.core.session import AssistantReplied, SessionEvent, ToolFinished, ToolUse, Usage

_messages = iter(range(10**9))


def call(ident: str, name: str, *, side: bool = False, **given: Any) -> AssistantReplied:
    """A reply of its own that calls one tool."""
    tools = (ToolUse(ident, name, given),)
    return AssistantReplied(
        f"m{next(_messages)}", "claude-opus-5", Usage(), Usage(), tools=tools, sidechain=side
    )


def bash(ident: str, command: str, **given: Any) -> AssistantReplied:
    return call(ident, "Bash", command=command, **given)


def said(text: str) -> AssistantReplied:
    return AssistantReplied(f"m{next(_messages)}", "x", Usage(), Usage(), text=text)


def ran(command: str, output: str = "", exit_: int = 0) -> list[SessionEvent]:
    """A command with its result, as Claude Code records both."""
    ident = f"t{next(_messages)}"
    text = f"Exit code {exit_}\n{output}" if exit_ else output
    result = ToolFinished(ident, exit_ != 0, text, exit=exit_)
    return [bash(ident, command), result]


def facts_of(*events: SessionEvent) -> Facts:
    collector = Collector()
    for event in events:
        collector.feed(event)
    return collector.facts()

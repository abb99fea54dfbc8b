"""Tools that were called and have not come back."""

from __future__ import annotations

import pytest

from cockpit.core.running_tools import RunningTools
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    ToolUse,
    TurnEnded,
    Usage,
    UserSaid,
)


def called(*names: str, sidechain: bool = False) -> AssistantReplied:
    tools = tuple(ToolUse(name, "Bash") for name in names)
    return AssistantReplied("m", "x", Usage(), Usage(), tools=tools, sidechain=sidechain)


@pytest.mark.parametrize(
    ("events", "running"),
    [
        ([], False),
        ([called("a")], True),
        ([called("a"), ToolFinished("a")], False),
        ([called("a", "b"), ToolFinished("a")], True),
        ([called("a"), ToolFinished("other")], True),
        ([called("a", sidechain=True)], False),
        ([called("a"), Interrupted()], False),
        ([called("a"), TurnEnded()], False),
        ([called("a"), Compacted()], False),
        ([called("a"), UserSaid("go on")], False),
        ([called("a"), UserSaid("a hook's word", meta=True)], True),
        ([called("a"), UserSaid("a subagent's task", sidechain=True)], True),
        ([called("a"), Skipped("torn")], True),
    ],
)
def test_a_call_is_open_until_it_comes_back_or_its_turn_ends(
    events: list[SessionEvent | Skipped], running: bool
) -> None:
    tools = RunningTools()
    for event in events:
        tools.feed(event)
    assert bool(tools) is running

"""Hooks as moments: what a permission dialog asks leave for."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.adapters.agents.claude_moments import LONGEST_COMMAND, moments
from cockpit.core.ids import AgentName
from cockpit.core.moments import DialogOpened
from cockpit.ports.runtimes import Signal


def asked(tool: Any, given: Any) -> DialogOpened:
    payload = {"tool_name": tool, "tool_input": given, "cwd": "/w"}
    signal = Signal(AgentName("api"), "PermissionRequest", payload, 1.0)
    (moment,) = moments(signal)
    assert isinstance(moment, DialogOpened)
    return moment


@pytest.mark.parametrize(
    ("tool", "given", "command"),
    [
        ("Bash", {"command": "make \\\n all", "description": "Build"}, "make \\\n all"),
        ("Edit", {"file_path": "/w/src/a.py", "old_string": "x"}, "src/a.py"),
        ("WebFetch", {"url": "https://a.example", "prompt": "read"}, "https://a.example"),
        ("ExitPlanMode", {"plan": "# Plan\n\n1. go"}, "# Plan\n\n1. go"),
        ("mcp__db__run", {"statement": "drop table x"}, '{"statement": "drop table x"}'),
        ("Bash", {"command": 3}, '{"command": 3}'),
        ("Bash", None, ""),
        ("Bash", "text", ""),
    ],
)
def test_a_permission_is_told_with_its_tool_and_the_whole_of_what_it_does(
    tool: str, given: object, command: str
) -> None:
    moment = asked(tool, given)
    assert (moment.kind, moment.tool, moment.command) == ("permission", tool, command)
    assert "\n" not in moment.detail


def test_a_command_without_end_is_cut() -> None:
    assert len(asked("Bash", {"command": "x" * 10**6}).command) == LONGEST_COMMAND

"""Hooks as cli_events: what a permission dialog asks leave for."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.adapters.agents.claude.hook_events import LONGEST_COMMAND, cli_events
from cockpit.core.cli_events import DialogOpened
from cockpit.core.ids import AgentName
from cockpit.ports.runtimes import Signal


def asked(tool: Any, given: Any) -> DialogOpened:
    payload = {"tool_name": tool, "tool_input": given, "cwd": "/w"}
    signal = Signal(AgentName("api"), "PermissionRequest", payload, 1.0)
    (moment,) = cli_events(signal)
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


SESSION = "0b0e7c8e-6a0a-4f0c-9a52-1d7f6f6f2b11"


@pytest.mark.parametrize(
    ("session", "record", "begins"),
    [
        (SESSION, f"/home/u/.claude/projects/-w/{SESSION}.jsonl", True),
        (SESSION, None, True),
        ("--dangerously-skip-permissions", None, False),
        ("../../../etc", "/etc/shadow", False),
        (SESSION, "/etc/shadow", False),
        (SESSION, f"/home/u/../../proc/self/{SESSION}.jsonl", False),
        (SESSION, f"{SESSION}.jsonl", False),
        (None, None, False),
    ],
)
def test_a_session_begins_only_by_an_id_and_a_record_of_the_cli_s_form(
    session: str | None, record: str | None, begins: bool
) -> None:
    payload = {"session_id": session, "transcript_path": record, "source": "clear"}
    found = cli_events(Signal(AgentName("api"), "SessionStart", payload, 1.0))
    assert bool(found) is begins

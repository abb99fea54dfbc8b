"""What a tool call of Claude Code would do, written out for the user; and its refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cockpit.adapters.agents.claude.hook_events import cli_events
from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.request_text import request_text
from cockpit.core.cli_events import DialogOpened
from cockpit.core.dialogs import LONGEST_BODY
from cockpit.core.ids import AgentName
from cockpit.core.session import Skipped, ToolFinished, ToolUse
from cockpit.ports.runtimes import Signal

QUESTIONS = [
    {"question": "Which one?", "options": [{"label": "A", "description": "x"}, {"label": "B"}]},
    {"question": "How many?", "options": "none"},
    "nonsense",
]


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("Bash", {"command": " cd /w/x && make\n"}, "cd /w/x && make"),
        ("Write", {"file_path": "a", "content": "x\ny\n"}, "+x\n+y"),
        ("Edit", {"old_string": "x", "new_string": "y\nz"}, "-x\n+y\n+z"),
        ("Edit", {"old_string": "", "new_string": "y"}, "+y"),
        ("WebFetch", {"url": "https://a.example", "prompt": "read"}, "https://a.example\nread"),
        ("ExitPlanMode", {"plan": "# Plan\n\n1. Go\n"}, "# Plan\n\n1. Go"),
        ("ExitPlanMode", {}, ""),
        ("AskUserQuestion", {"questions": QUESTIONS}, "Which one?\n- A\n- B\n\nHow many?"),
        ("mcp__db__query", {"sql": "drop table x"}, ""),
        ("Bash", {"command": 7}, ""),
    ],
)
def test_the_whole_request_is_written_out(tool: str, given: dict[str, Any], text: str) -> None:
    assert request_text(ToolUse("id", tool, given)) == text


def test_the_hook_brings_it_in_full_though_the_row_shortens_it() -> None:
    command = "/w/run.sh && " + "true && " * 2000 + "true"
    payload = {"cwd": "/w", "tool_name": "Bash", "tool_input": {"command": command}}
    (opened,) = cli_events(Signal(AgentName("api"), "PermissionRequest", payload, 0.0))
    assert isinstance(opened, DialogOpened)
    assert opened.body == command
    assert opened.command.startswith("run.sh")
    payload["tool_input"] = {"command": "x" * (LONGEST_BODY + 9)}
    (opened,) = cli_events(Signal(AgentName("api"), "PermissionRequest", payload, 0.0))
    assert isinstance(opened, DialogOpened)
    assert len(opened.body) == LONGEST_BODY


@pytest.mark.parametrize(
    ("more", "refused"), [({"toolDenialKind": "user-rejected"}, True), ({}, False)]
)
def test_the_transcript_tells_a_refusal_from_a_failure(more: dict[str, str], refused: bool) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": True}
    message = {"role": "user", "content": [block]}
    line = {"type": "user", "message": message, "toolUseResult": "Error: x", **more}
    events = parse(json.dumps(line).encode())
    assert not isinstance(events, Skipped)
    (done,) = [event for event in events if isinstance(event, ToolFinished)]
    assert (done.failed, done.refused) == (True, refused)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.activity import LENGTH, activity
from cockpit.core.session import ToolUse


@pytest.mark.parametrize(
    ("name", "told", "expected"),
    [
        ("Edit", {"file_path": "/home/p/src/auth.py"}, "Edit src/auth.py"),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
        (
            "Bash",
            {"command": "git commit -m 'x'\ngit push", "description": "d"},
            "Bash git commit -m 'x'",
        ),
        ("Bash", {"command": "  \n  make test"}, "Bash make test"),
        ("Agent", {"description": "look", "prompt": "long"}, "Agent look"),
        ("TodoWrite", {"todos": [1, 2]}, "TodoWrite 2 items"),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, "TaskUpdate #1 completed"),
        ("mcp__db__query", {"query": "select 1"}, "mcp__db__query select 1"),
        ("Nothing", {}, "Nothing"),
        ("Bash", {"command": 5}, "Bash"),
        ("TodoWrite", {"todos": "no"}, "TodoWrite"),
        (
            "AskUserQuestion",
            {"questions": [{"question": "Which port?"}, {}]},
            "AskUserQuestion Which port?",
        ),
        ("AskUserQuestion", {"questions": ["no"]}, "AskUserQuestion"),
    ],
)
def test_a_call_is_told_in_one_line(name: str, told: dict[str, object], expected: str) -> None:
    assert activity(ToolUse("1", name, told), "/home/p") == expected


def test_a_long_call_is_cut() -> None:
    line = activity(ToolUse("1", "Bash", {"command": "x " * 5_000}))
    assert len(line) == LENGTH - 1
    assert line.endswith("…")


def test_control_bytes_do_not_survive() -> None:
    line = activity(ToolUse("1", "Bash", {"command": "echo \x1b[31mred\x07\u202e\ud800"}))
    assert line.startswith("Bash echo red")
    assert "\x1b" not in line
    assert "\u202e" not in line


@given(st.text(), st.text())
def test_any_call_is_one_short_line_without_controls(name: str, text: str) -> None:
    line = activity(ToolUse("1", name, {"command": text, "file_path": text}))
    assert len(line) <= LENGTH
    assert not any(ord(character) < 32 or ord(character) == 127 for character in line)

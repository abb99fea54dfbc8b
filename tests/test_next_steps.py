"""Every error that a user can see names a next step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "cockpit"
ERRORS = {
    "CockpitError",
    "Failed",
    "OsProblem",
    "BadUsage",
    "BadConfig",
    "NoSuchAgent",
    "NoSupervisor",
    "Unreachable",
    "NotNow",
    "NotAllowed",
    "ProgramMissing",
}
CAUGHT = {
    "adapters/agents/claude/fork.py": "the next writer of the list writes the document",
    "adapters/agents/codex/copy_session.py": "the next writer of the list writes the document",
    "adapters/agents/copilot/copy_session.py": "the next writer of the list writes the document",
    "adapters/agents/gemini/copy_session.py": "the next writer of the list writes the document",
    "adapters/agents/opencode/copy_session.py": "the next writer of the list writes the document",
    "adapters/agents/command.py": "the next writer of the list writes the document",
    "supervisor/handoff/document_sources.py": "the next writer of the list writes the document",
    "supervisor/handoff/documents.py": "the next writer of the list writes the document",
    "supervisor/handoff/hook_decisions.py": "becomes an event, and the handoff writes a document",
    "adapters/agents/hook_answers.py": "a defect of cockpit's own code",
    "adapters/documents/compaction_facts.py": "a defect of cockpit's own code",
    "adapters/hooks/responses.py": "a defect of cockpit's own code",
    "core/slack_bot.py": "one line, with its next step at the end",
    "demo/summary.py": "tells a developer that the demo is broken",
    "tui/pictures/picture.py": "tells a developer that a picture is wrong",
}
"""Files whose errors no user sees as they are, with what happens to them."""


def without_next_step(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each error that is built without a hint."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ERRORS:
            continue
        starred = any(isinstance(each, ast.Starred) for each in node.args)
        named = [each.value for each in node.keywords if each.arg == "hint"]
        hint = named[0] if named else node.args[2] if len(node.args) > 2 else None
        empty = isinstance(hint, ast.Constant) and not hint.value
        if not starred and (hint is None or empty):
            yield node.lineno, ast.get_source_segment(source, node) or ""


def test_every_error_names_a_next_step() -> None:
    missing = [
        f"{path.relative_to(SOURCES)}:{line}: {text}"
        for path in sorted(SOURCES.rglob("*.py"))
        if str(path.relative_to(SOURCES)) not in CAUGHT
        for line, text in without_next_step(path.read_text())
    ]
    assert missing == []


@pytest.mark.parametrize("name", CAUGHT)
def test_the_list_of_caught_errors_is_current(name: str) -> None:
    assert list(without_next_step((SOURCES / name).read_text()))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('raise Failed("It failed")', 1),
        ('raise Failed("It failed", "The reason.", "")', 1),
        ('raise BadUsage("Wrong", hint="Try: 10m")', 0),
        ('raise Failed("It failed", "The reason.", "The next step.")', 0),
        ("raise Failed(*words)", 0),
    ],
)
def test_an_error_without_a_next_step_is_found(source: str, found: int) -> None:
    assert len(list(without_next_step(source))) == found

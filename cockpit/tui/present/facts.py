"""The facts of a session as lines: goal, todos, files and commits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cockpit.core.safetext import safe_line
from cockpit.tui.present.fold import worded
from cockpit.tui.present.span import Span, fit_path

TITLES = 12
"""Cells for the name of a group, at the left."""
GOAL_LINES = 12
_TODO = {
    "completed": ("✓", "muted"),
    "in_progress": ("●", "state-working"),
    "pending": ("○", ""),
}


def fact_lines(facts: Mapping[str, Any], width: int, folder: str = "") -> list[list[Span]]:
    """Return the lines of a session's facts, in groups; empty groups are left out.

    Paths below `folder`, the agent's worktree or directory, are relative to it.
    """
    lines: list[list[Span]] = []
    for title, entries in _groups(facts, max(8, width - TITLES - 2), folder):
        if lines and entries:
            lines.append([])
        for index, entry in enumerate(entries):
            name = f"  {title:<{TITLES}}" if not index else " " * (TITLES + 2)
            lines.append([Span(name, "title"), *entry])
    return lines or [[Span("  Nothing known about this session yet.", "muted")]]


def _groups(
    facts: Mapping[str, Any], width: int, folder: str
) -> Iterator[tuple[str, list[list[Span]]]]:
    goal = str(facts.get("goal") or "")
    lines = [line for part in goal.splitlines() for line in worded(part, width)]
    yield "goal", [[Span(line)] for line in lines[:GOAL_LINES]]
    standing = facts.get("standing") or ()
    yield "in force", [part for statement in standing for part in _statement(statement, width)]
    yield "todos", [part for todo in facts.get("todos") or () for part in _todo(todo, width)]
    recent = [_relative(str(text), folder) for text in facts.get("recent_activity") or ()]
    yield "last", _texts(recent, width, "")
    files = [_relative(str(file), folder) for file in facts.get("files_modified") or ()]
    yield "files", [[Span(fit_path(safe_line(file, 400), width).rstrip())] for file in files]
    yield "commits", [_commit(commit, width) for commit in facts.get("commits") or ()]
    status = facts.get("git_status")
    yield "git status", _texts(str(status).splitlines() if status else (), width, "muted")
    yield "subagents", [_subagent(subagent, width) for subagent in facts.get("subagents") or ()]
    yield "background", [_task(task, width) for task in facts.get("background") or ()]


def _relative(text: str, folder: str) -> str:
    """Return the text with paths below the folder relative to it."""
    if folder in ("", "/"):
        return text
    return re.sub(rf"(?<![^\s\"'(=]){re.escape(folder.rstrip('/'))}/(?=[^\s])", "", text)


def _texts(texts: Any, width: int, role: str) -> list[list[Span]]:
    return [[Span(safe_line(str(text), width), role)] for text in texts or ()]


def _todo(todo: Mapping[str, Any], width: int) -> Iterator[list[Span]]:
    glyph, role = _TODO.get(str(todo.get("status")), ("?", "muted"))
    for index, line in enumerate(worded(str(todo.get("content")), width - 2)):
        yield [Span(f"{glyph if not index else ' '} ", role), Span(line, role)]


def _statement(statement: Mapping[str, Any], width: int) -> Iterator[list[Span]]:
    """Yield the lines of a decision or constraint of an earlier session, with its origin."""
    text = safe_line(str(statement.get("text")), 600)
    since = safe_line(str(statement.get("since")), 80)
    for line in worded(f"{text} (since {since})", width):
        yield [Span(line)]


def _commit(commit: Mapping[str, Any], width: int) -> list[Span]:
    short_hash = safe_line(str(commit.get("hash")), 12)
    return [Span(f"{short_hash} ", "key"), Span(safe_line(str(commit.get("subject")), width - 10))]


def _task(task: Mapping[str, Any], width: int) -> list[Span]:
    text = (
        f"{task.get('type')} {task.get('status')}: {task.get('command') or task.get('description')}"
    )
    return [Span(safe_line(text, width))]


def _subagent(subagent: Mapping[str, Any], width: int) -> list[Span]:
    text = f"{subagent.get('type')} {subagent.get('status')}: {subagent.get('task')}"
    return [Span(safe_line(text, width))]

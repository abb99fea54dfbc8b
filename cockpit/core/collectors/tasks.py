"""Collect the agent's todo list: `TodoWrite`, or the tasks of newer CLIs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cockpit.core.collectors.bounded import remember_call
from cockpit.core.facts import Todo
from cockpit.core.session import TodosRecorded, ToolFinished, ToolUse

TODOS_KEPT = 500
_LISTED = re.compile(
    r"#(\d{1,6}) \[([a-z_]{1,20})\] (.*?)(?: \([^()]{1,60}\))?(?: \[blocked by [#0-9, ]+\])?$"
)
TASK_TOOLS = frozenset({"TaskCreate", "TaskList", "TaskUpdate"})
"""Tools that change or print the list of tasks. Only the result says whether the call succeeded."""
_NONE_LISTED = "No tasks found"
_MADE = re.compile(r"Task #(\S+) created")


class TaskCollector:
    """Keeps the latest todo list that the agent wrote or the CLI printed."""

    __slots__ = ("_before", "_creating", "_listing", "_tasks", "_todos", "_updating")

    def __init__(self) -> None:
        self._todos: tuple[Todo, ...] | None = None
        self._before: dict[str, tuple[Todo, ...] | None] = {}
        self._tasks: dict[str, Todo] = {}
        self._creating: dict[str, str] = {}
        self._updating: dict[str, tuple[str, Todo]] = {}
        self._listing: dict[str, frozenset[str]] = {}
        """For each call of `TaskList` without a result: ids of tasks known before the call."""

    @property
    def todos(self) -> tuple[Todo, ...]:
        """The todo list; tasks are in the order of their ids."""
        if self._todos is not None:
            return self._todos
        numbered = sorted(self._tasks.items(), key=lambda kept: (len(kept[0]), kept[0]))
        return tuple(task for _, task in numbered)

    def called(self, tool: ToolUse) -> None:
        """Record a call of the main conversation that changes or lists the todos."""
        match tool.name:
            case "TodoWrite":
                self._write(tool.id, tool.input.get("todos"))
            case "TaskCreate":
                remember_call(self._creating, tool.id, str(tool.input.get("subject", "")))
            case "TaskUpdate":
                self._update(tool.id, tool.input)
            case "TaskList":
                remember_call(self._listing, tool.id, frozenset(self._tasks))

    def finished(self, event: ToolFinished) -> None:
        """Record the result of a tool call. Undo a failed call's change of the list."""
        before = self._before.pop(event.tool_use_id, self._todos)
        if event.failed:
            self._todos = before
        subject = self._creating.pop(event.tool_use_id, None)
        made = _MADE.search(event.text) if subject is not None else None
        if subject is not None and made is not None:
            if made[1] in self._tasks:
                self._tasks.clear()  # the CLI cleared its list, and its numbers begin again at 1
            if len(self._tasks) < TODOS_KEPT:
                self._todos = None
                self._tasks[made[1]] = Todo(subject, "pending")
        updated = self._updating.pop(event.tool_use_id, None)
        if updated is not None and (event.failed or event.text.startswith("Task not found")):
            number, task = updated
            self._tasks[number] = task
        known = self._listing.pop(event.tool_use_id, None)
        if known is not None and not event.failed:
            self._read_list(event, known)

    def recorded(self, event: TodosRecorded) -> None:
        """Use the list in a reminder that the CLI gave to the model."""
        items = event.items[:TODOS_KEPT]
        if event.numbered:
            self._todos = None
            self._tasks = {number: Todo(text, status) for number, text, status in items}
        elif items or self._todos:
            self._todos = tuple(Todo(text, status) for _, text, status in items)

    def _write(self, tool_id: str, written: object) -> None:
        if isinstance(written, list):
            remember_call(self._before, tool_id, self._todos)
            items = [item for item in written[:TODOS_KEPT] if isinstance(item, Mapping)]
            todos = tuple(
                Todo(str(item.get("content", "")), str(item.get("status", ""))) for item in items
            )
            # The CLI clears a list in which everything is completed.
            self._todos = () if all(todo.status == "completed" for todo in todos) else todos

    def _update(self, tool_id: str, arguments: Mapping[str, Any]) -> None:
        number = str(arguments.get("taskId", ""))
        task = self._tasks.get(number)
        if task is None:
            return
        remember_call(self._updating, tool_id, (number, task))
        status, subject = arguments.get("status"), arguments.get("subject")
        if status == "deleted":
            del self._tasks[number]
            return
        if isinstance(status, str):
            task = replace(task, status=status)
        if isinstance(subject, str):
            task = replace(task, content=subject)
        self._tasks[number] = task

    def _read_list(self, event: ToolFinished, known: frozenset[str]) -> None:
        """Use the list of tasks that the CLI printed, which includes changes by other sessions.

        A complete list has all tasks, so a task in `known` that is not in the list was deleted. If
        the event lacks the middle of a long list, only the whole lines are used.
        """
        text = event.text.strip()
        lines = text.split("\n")
        if event.tail:
            lines = [*lines[:-1], *event.tail.strip().split("\n")[1:]]
        matches = [_LISTED.fullmatch(line) for line in lines]
        if text == _NONE_LISTED or (all(matches) and not event.tail):
            for number in known.difference(match[1] for match in matches if match is not None):
                self._tasks.pop(number, None)
        for match in matches:
            if match is not None and (match[1] in self._tasks or len(self._tasks) < TODOS_KEPT):
                self._tasks[match[1]] = Todo(match[3], match[2])

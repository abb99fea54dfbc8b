"""Collect the subagents, the background tasks and the shell jobs that a session started."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from cockpit.core.activity import CallLine
from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.facts import BackgroundTask, Subagent
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import ToolFinished, ToolUse
from cockpit.core.shell_jobs import ended_pids, printed_pid, shell_jobs

SUBAGENTS_KEPT = 200
TASKS_KEPT = 200
"""Maximum background tasks that are kept for one session."""
TEXT_KEPT = 1_000
"""Maximum characters of a command or its description."""
RESULT_KEPT = 1_000
"""Maximum characters of a subagent's report."""
_SUBAGENT_TOOLS = frozenset({"Agent", "Task"})
_TYPES = {"Bash": "shell", "Monitor": "monitor"}
STOPPERS = {"TaskStop": "task_id", "KillShell": "shell_id", "KillBash": "shell_id"}
"""Maps each tool that ends a background task to the argument with the task's id."""


class SubagentCollector:
    """Keeps each subagent with its last known status."""

    __slots__ = ("_subagents",)

    def __init__(self) -> None:
        self._subagents: dict[str, Subagent] = {}

    @property
    def subagents(self) -> tuple[Subagent, ...]:
        return tuple(self._subagents.values())

    def called(self, tool: ToolUse) -> None:
        """Record the subagent that a call of the main conversation starts."""
        if tool.name not in _SUBAGENT_TOOLS:
            return
        kind = str(tool.input.get("subagent_type") or "general-purpose")
        task = str(tool.input.get("description") or tool.input.get("prompt") or "")
        started = Subagent(tool.id, kind, "running", cut_at_word(task, 500))
        remember(self._subagents, tool.id, started, SUBAGENTS_KEPT)

    def finished(self, event: ToolFinished) -> None:
        """Record the result of a call, or a notice about a subagent.

        The event has the id of the subagent, or of the call that started the subagent.
        """
        for key in self._named_by(event):
            known = self._subagents[key]
            status = event.agent_status or ("failed" if event.failed else "completed")
            ended = status != "running" and event.text.strip() and not event.failed
            result = cut_at_word(event.text.strip(), RESULT_KEPT) if ended else known.result
            self._subagents[key] = replace(
                known, id=event.agent_id or known.id, status=status, result=result
            )

    def _named_by(self, event: ToolFinished) -> list[str]:
        if event.tool_use_id in self._subagents:
            return [event.tool_use_id]
        if event.agent_id is None:
            return []
        return [key for key, known in self._subagents.items() if known.id == event.agent_id]


class BackgroundCollector:
    """Keeps the background tasks and shell jobs with their last known status."""

    __slots__ = ("_jobs", "_limits", "_stopping", "_tasks")

    def __init__(self) -> None:
        self._jobs = 0
        """Number of shell jobs so far."""
        self._tasks: dict[str, BackgroundTask] = {}
        self._stopping: dict[str, str] = {}
        self._limits: dict[str, datetime] = {}
        """The time at which the CLI ends a task that still runs; the keys are those of `_tasks`."""

    @property
    def tasks(self) -> tuple[BackgroundTask, ...]:
        """The background tasks, oldest first."""
        return tuple(self._tasks.values())

    def called(self, tool: ToolUse) -> None:
        """Record a call of the main conversation that ends a background task."""
        if (named := tool.input.get(STOPPERS.get(tool.name, ""))) is not None:
            remember_call(self._stopping, tool.id, str(named))

    def finished(self, event: ToolFinished, call: CallLine | None) -> None:
        """Record the result of a call, or a notice about a task that ran in the background.

        `call` is None unless the main conversation made the call.
        """
        if event.task_id and call is not None and call.name in _TYPES:
            texts = _kept(call.description), _kept(call.command)
            task = BackgroundTask(event.task_id, _TYPES[call.name], *texts, event.task_log)
            remember(self._tasks, event.tool_use_id, task, TASKS_KEPT)
            if event.task_until is not None:
                remember(self._limits, event.tool_use_id, event.task_until, TASKS_KEPT)
        elif (known := self._tasks.get(event.tool_use_id)) and event.agent_status:
            self._tasks[event.tool_use_id] = replace(known, status=event.agent_status)
        elif event.agent_id and event.agent_status:
            self._set_status(event.agent_id, event.agent_status)
        elif call is not None and call.name == "Bash" and not event.failed:
            self._ran(event, call)
        stopped = self._stopping.pop(event.tool_use_id, None)
        if stopped is not None and not event.failed:
            self._set_status(stopped, "stopped")

    def _ran(self, event: ToolFinished, call: CallLine) -> None:
        """Record the jobs that a command left in the background, and the jobs that it ended."""
        started = shell_jobs(call.command)
        pid = printed_pid(call.command, f"{event.text}\n{event.tail}") if len(started) == 1 else ""
        for command in started:
            self._jobs += 1
            self._forget_job(f"{command} &")
            ident = f"pid {pid}" if pid else f"job {self._jobs}"
            task = BackgroundTask(
                ident, "shell", _kept(call.description), _kept(f"{command} &"), status="unknown"
            )
            remember(self._tasks, f"{event.tool_use_id} {ident}", task, TASKS_KEPT)
        for ended in ended_pids(call.command):
            self._set_status(f"pid {ended}", "stopped")

    def _forget_job(self, command: str) -> None:
        """Remove an earlier job with the same command; a new job replaces the earlier one."""
        for key, task in [*self._tasks.items()]:
            if task.status == "unknown" and task.command == _kept(command):
                del self._tasks[key]

    def passed(self, at: datetime | None) -> None:
        """Mark running tasks as ended if their time limit was before `at`, the time of a prompt."""
        if at is None or not self._limits:
            return
        for key in [key for key, until in self._limits.items() if until < at]:
            del self._limits[key]
            task = self._tasks.get(key)
            if task is not None and task.status == "running":
                self._tasks[key] = replace(task, status="ended")

    def only_running(self, ids: Collection[str]) -> None:
        """Mark every running task as ended, except those with these ids. Idempotent."""
        for key, task in self._tasks.items():
            if task.status == "running" and task.id not in ids:
                self._tasks[key] = replace(task, status="ended")

    def _set_status(self, ident: str, status: str) -> None:
        for key, task in self._tasks.items():
            if task.id == ident:
                self._tasks[key] = replace(task, status=status)


def _kept(text: str) -> str:
    return text if len(text) <= TEXT_KEPT else cut_at_word(text, TEXT_KEPT)

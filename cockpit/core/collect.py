"""Collect the facts of one session from the events of its transcript, in bounded memory.

A handoff document contains these facts even without a model. They are as in the transcript: not
shortened, and not checked against git.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from cockpit.core.activity import activity
from cockpit.core.facts import BackgroundTask, CommitMade, Facts, Subagent, Todo
from cockpit.core.prompt_files import prompt_files
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Identified,
    Interrupted,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    Titled,
    ToolFinished,
    ToolUse,
    UserSaid,
)

FILES_KEPT = 2_000
COMMITS_KEPT = 500
SUBAGENTS_KEPT = 200
TASKS_KEPT = 200
"""Maximum background tasks that are kept for one session."""
TODOS_KEPT = 500
PENDING_KEPT = 500
COMMAND_KEPT = 1_000
REPLY_KEPT = 20_000
"""Maximum characters of the session's last reply that are kept."""

_PATH_OF = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
_SUBAGENT_TOOLS = frozenset({"Agent", "Task"})
_BASH_ARGUMENTS = ("description", "command")
_STOPPERS = {"TaskStop": "task_id", "KillShell": "shell_id", "KillBash": "shell_id"}
"""Tools that end a background task, and the argument with its id."""
_COMMIT = re.compile(r"^\[[^\n]*? ([0-9a-f]{7,64})\] ([^\n]*)", re.MULTILINE)
_COMMIT_COMMAND = re.compile(r"\bgit\b[^\n]*\bcommit\b")
_SHELL_COMMIT = re.compile(r"\s*(?:cd [^\n;&]{1,500}(?:&&|;)\s*)?git\b[^\n]*\bcommit\b")
_TASK_LISTED = re.compile(
    r"#(\d{1,6}) \[([a-z_]{1,20})\] (.*?)(?: \([^()]{1,60}\))?(?: \[blocked by [#0-9, ]+\])?$"
)
_NO_TASKS = "No tasks found"
_TASK_MADE = re.compile(r"Task #(\S+) created")


class Collector:
    """Collects the facts of one session from the events that are passed to `feed`."""

    __slots__ = (
        "_background",
        "_bash",
        "_before",
        "_changed",
        "_commits",
        "_committing",
        "_compactions",
        "_creating",
        "_cwd",
        "_editing",
        "_files",
        "_goal",
        "_goal_interrupted",
        "_goal_pieces",
        "_just_compacted",
        "_listing",
        "_recent",
        "_reply",
        "_shell_commits",
        "_stopping",
        "_subagents",
        "_tasks",
        "_title",
        "_todos",
        "_updating",
        "_worked",
    )

    def __init__(self) -> None:
        self._goal: str | None = None
        self._goal_interrupted = self._worked = False
        self._title: str | None = None
        self._shell_commits = self._just_compacted = False
        self._listing: dict[str, None] = {}
        self._updating: dict[str, tuple[str, Todo]] = {}
        self._goal_pieces: dict[str, str | None] = {}
        self._reply: str | None = None
        self._cwd: str | None = None
        self._compactions = 0
        self._recent: deque[str] = deque(maxlen=5)
        self._files: dict[str, None] = {}
        self._changed: set[str] = set()
        self._editing: dict[str, str] = {}
        self._commits: dict[str, CommitMade] = {}
        self._committing: dict[str, None] = {}
        self._subagents: dict[str, Subagent] = {}
        self._bash: dict[str, ToolUse] = {}
        self._background: dict[str, BackgroundTask] = {}
        self._stopping: dict[str, str] = {}
        self._todos: tuple[Todo, ...] | None = None
        self._before: dict[str, tuple[Todo, ...] | None] = {}
        self._tasks: dict[str, Todo] = {}
        self._creating: dict[str, str] = {}

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript."""
        if isinstance(event, AssistantReplied):
            self._replied(event)
        elif isinstance(event, ToolFinished):
            self._finished(event)
        elif isinstance(event, UserSaid):
            self._note_goal(event)
        elif isinstance(event, PromptFileTaken):
            self._note_piece(event)
        elif isinstance(event, Identified):
            self._cwd = event.cwd or self._cwd
        elif isinstance(event, Compacted):
            self._compactions += 0 if self._just_compacted else 1
            self._just_compacted = True
        elif isinstance(event, Interrupted):
            self._goal_interrupted = self._goal is not None and not self._worked
        elif isinstance(event, Titled):
            self._title = event.text

    def only_running(self, ids: Collection[str]) -> None:
        """Mark every running background task as ended, except those with these ids. Idempotent."""
        for key, task in self._background.items():
            if task.status == "running" and task.id not in ids:
                self._background[key] = replace(task, status="ended")

    def background(self) -> tuple[BackgroundTask, ...]:
        """Return the background tasks, oldest first."""
        return tuple(self._background.values())

    @property
    def goal(self) -> str | None:
        """The user's first prompt; if the prompt names prompt files, the content of these files.

        A prompt that the user interrupted before any work is replaced by the next prompt. Without a
        prompt, the session's title.
        """
        return self._goal if self._goal is not None else self._title

    def facts(self) -> Facts:
        """Return all facts known so far."""
        return Facts(
            goal=self.goal,
            todos=self._todos if self._todos is not None else self._listed(),
            files_modified=tuple(self._files),
            commits=tuple(self._commits.values()),
            subagents=tuple(self._subagents.values()),
            background=tuple(self._background.values()),
            recent_activity=tuple(self._recent),
            last_reply=self._reply,
            compactions=self._compactions,
        )

    def _note_goal(self, event: UserSaid) -> None:
        if event.shell:
            self._note_shell(event.shell)
        text = event.command or event.text
        from_user = bool(event.command) or not (event.meta or event.compact_summary)
        if not from_user or event.sidechain or not text.strip():
            return
        if self._goal is None or self._goal_interrupted:
            self._goal = text
            self._goal_pieces = dict.fromkeys(prompt_files(text))
            self._goal_interrupted = False

    def _note_shell(self, text: str) -> None:
        """Note a commit that the user made with a shell command in the CLI."""
        if self._shell_commits:
            self._note_commits(text)
        self._shell_commits = _SHELL_COMMIT.match(text) is not None

    def _listed(self) -> tuple[Todo, ...]:
        """Return the tasks in the order of their ids."""
        numbered = sorted(self._tasks.items(), key=lambda kept: (len(kept[0]), kept[0]))
        return tuple(task for _, task in numbered)

    def _note_piece(self, event: PromptFileTaken) -> None:
        if event.path not in self._goal_pieces:
            return
        self._goal_pieces[event.path] = event.text
        pieces = [piece for piece in self._goal_pieces.values() if piece is not None]
        if len(pieces) == len(self._goal_pieces):
            self._goal, self._goal_pieces = "".join(pieces), {}

    def _replied(self, event: AssistantReplied) -> None:
        for tool in event.tools:
            self._called(tool, main=not event.sidechain)
        if event.sidechain:
            return
        self._just_compacted = False
        self._worked = self._worked or bool(event.tools)
        if event.text.strip():
            self._reply = cut_at_word(event.text, REPLY_KEPT)

    def _called(self, tool: ToolUse, *, main: bool) -> None:
        key = _PATH_OF.get(tool.name)
        path = tool.input.get(key) if key else None
        if isinstance(path, str) and path:
            self._edit(tool.id, path)
        elif tool.name == "Bash":
            command = tool.input.get("command")
            if isinstance(command, str) and _COMMIT_COMMAND.search(command):
                _remember(self._committing, tool.id, None)
            if main:
                _remember(self._bash, tool.id, _shortened(tool))
        if not main:
            return
        self._recent.append(activity(tool, self._cwd))
        if tool.name in _SUBAGENT_TOOLS:
            self._start_subagent(tool)
        elif tool.name == "TodoWrite":
            self._write_todos(tool.id, tool.input.get("todos"))
        elif tool.name == "TaskCreate":
            _remember(self._creating, tool.id, str(tool.input.get("subject", "")))
        elif tool.name == "TaskUpdate":
            self._update_task(tool.id, tool.input)
        elif tool.name == "TaskList":
            _remember(self._listing, tool.id, None)
        elif (named := tool.input.get(_STOPPERS.get(tool.name, ""))) is not None:
            _remember(self._stopping, tool.id, str(named))

    def _edit(self, tool_id: str, path: str) -> None:
        if path in self._files or len(self._files) < FILES_KEPT:
            self._files.setdefault(path)
            _remember(self._editing, tool_id, path)

    def _finished(self, event: ToolFinished) -> None:
        path = self._editing.pop(event.tool_use_id, None)
        if path is not None:
            self._edited(path, event.failed)
        if event.tool_use_id in self._committing:
            del self._committing[event.tool_use_id]
            self._note_commits(event.text)
        before = self._before.pop(event.tool_use_id, self._todos)
        if event.failed:
            self._todos = before
        subject = self._creating.pop(event.tool_use_id, None)
        made = _TASK_MADE.search(event.text) if subject is not None else None
        if subject is not None and made is not None:
            if made[1] in self._tasks:
                self._tasks.clear()  # the CLI cleared its list, and begins again at 1
            if len(self._tasks) < TODOS_KEPT:
                self._todos = None
                self._tasks[made[1]] = Todo(subject, "pending")
        updated = self._updating.pop(event.tool_use_id, None)
        if updated is not None and (event.failed or event.text.startswith("Task not found")):
            number, task = updated
            self._tasks[number] = task
        if event.tool_use_id in self._listing:
            del self._listing[event.tool_use_id]
            self._read_list(event)
        for key in self._subagents_of(event):
            self._end_subagent(key, event)
        self._note_background(event)

    def _subagents_of(self, event: ToolFinished) -> list[str]:
        """Return the calls of the subagents that the event reports on, by call or by id."""
        if event.tool_use_id in self._subagents:
            return [event.tool_use_id]
        if event.agent_id is None:
            return []
        return [key for key, known in self._subagents.items() if known.id == event.agent_id]

    def _read_list(self, event: ToolFinished) -> None:
        """Use the list of tasks that the CLI printed, which has changes by others too."""
        text = event.text.strip()
        found = [_TASK_LISTED.fullmatch(line) for line in text.split("\n")]
        if event.failed or not (text == _NO_TASKS or any(found)):
            return
        if text == _NO_TASKS:
            self._tasks.clear()
        for one in found:
            if one is not None and (one[1] in self._tasks or len(self._tasks) < TODOS_KEPT):
                self._tasks[one[1]] = Todo(one[3], one[2])

    def _note_background(self, event: ToolFinished) -> None:
        call = self._bash.pop(event.tool_use_id, None)
        if event.task_id and call is not None:
            description, command = (call.input[key] for key in _BASH_ARGUMENTS)
            task = BackgroundTask(event.task_id, "shell", description, command, event.task_log)
            _remember(self._background, call.id, task, TASKS_KEPT)
        elif (known := self._background.get(event.tool_use_id)) and event.agent_status:
            self._background[event.tool_use_id] = replace(known, status=event.agent_status)
        elif event.agent_id and event.agent_status:
            for key, task in self._background.items():
                if task.id == event.agent_id:
                    self._background[key] = replace(task, status=event.agent_status)
        stopped = self._stopping.pop(event.tool_use_id, None)
        if stopped is None or event.failed:
            return
        for key, task in self._background.items():
            if task.id == stopped:
                self._background[key] = replace(task, status="stopped")

    def _edited(self, path: str, failed: bool) -> None:
        if not failed:
            self._changed.add(path)
        elif path not in self._changed and path not in self._editing.values():
            self._files.pop(path, None)

    def _note_commits(self, output: str) -> None:
        for hash_, subject in _COMMIT.findall(output):
            _remember(self._commits, hash_, CommitMade(hash_, subject.strip()), COMMITS_KEPT)

    def _write_todos(self, tool_id: str, written: object) -> None:
        if isinstance(written, list):
            _remember(self._before, tool_id, self._todos)
            items = [item for item in written[:TODOS_KEPT] if isinstance(item, Mapping)]
            todos = tuple(
                Todo(str(item.get("content", "")), str(item.get("status", ""))) for item in items
            )
            # The CLI clears a list in which everything is completed.
            self._todos = () if all(todo.status == "completed" for todo in todos) else todos

    def _update_task(self, tool_id: str, arguments: Mapping[str, Any]) -> None:
        number = str(arguments.get("taskId", ""))
        task = self._tasks.get(number)
        if task is None:
            return
        _remember(self._updating, tool_id, (number, task))
        status, subject = arguments.get("status"), arguments.get("subject")
        if status == "deleted":
            del self._tasks[number]
            return
        if isinstance(status, str):
            task = replace(task, status=status)
        if isinstance(subject, str):
            task = replace(task, content=subject)
        self._tasks[number] = task

    def _start_subagent(self, tool: ToolUse) -> None:
        arguments = tool.input
        kind = str(arguments.get("subagent_type") or "general-purpose")
        task = str(arguments.get("description") or arguments.get("prompt") or "")
        started = Subagent(tool.id, kind, "running", cut_at_word(task, 500))
        _remember(self._subagents, tool.id, started, SUBAGENTS_KEPT)

    def _end_subagent(self, key: str, event: ToolFinished) -> None:
        known = self._subagents[key]
        status = event.agent_status or ("failed" if event.failed else "completed")
        self._subagents[key] = replace(known, id=event.agent_id or known.id, status=status)


def _shortened(tool: ToolUse) -> ToolUse:
    kept = {
        key: cut_at_word(str(tool.input.get(key) or ""), COMMAND_KEPT) for key in _BASH_ARGUMENTS
    }
    return ToolUse(tool.id, tool.name, kept)


def _remember(kept: dict[str, Any], key: str, value: object, limit: int = PENDING_KEPT) -> None:
    kept[key] = value
    while len(kept) > limit:
        del kept[next(iter(kept))]

"""Collect the facts of one session from the events of its transcript, in bounded memory.

A handoff document contains these facts even if no model wrote it. The facts come from the
transcript and are not checked against git. `core/collectors/` has one collector for each kind of
fact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from cockpit.core.activity import CallLine
from cockpit.core.collectors.background import BackgroundCollector, SubagentCollector
from cockpit.core.collectors.bounded import remember_call
from cockpit.core.collectors.checks import CheckCollector
from cockpit.core.collectors.commits import CommitCollector
from cockpit.core.collectors.constraints import ConstraintCollector
from cockpit.core.collectors.failures import FailureCollector
from cockpit.core.collectors.files import (
    FILE_TOOLS,
    FILES_KEPT,
    FileCollector,
    changed_path,
    is_draft,
    is_scratch,
)
from cockpit.core.collectors.links import LinkCollector
from cockpit.core.collectors.plans import PlanCollector
from cockpit.core.collectors.prompts import PromptCollector
from cockpit.core.collectors.questions import QuestionCollector
from cockpit.core.collectors.tasks import TaskCollector
from cockpit.core.collectors.wanted import purpose_of
from cockpit.core.facts import BackgroundTask, Facts, Summary
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import (
    AssistantReplied,
    AwaySummarized,
    Compacted,
    DocumentShown,
    Identified,
    InstructionsGiven,
    Interrupted,
    LastSaid,
    PlanRecorded,
    PromptFileTaken,
    PromptQueued,
    PullRequestLinked,
    SessionEvent,
    Skipped,
    Titled,
    TodosRecorded,
    ToolFinished,
    ToolUse,
    UserSaid,
)

__all__ = ["FILES_KEPT", "Collector"]

REPLY_KEPT = 20_000
"""Maximum characters that are kept of a reply, and of the CLI's summary for a returning user."""
SHORT_REPLY = 160
"""Characters below which the last reply counts as short. A short reply often only announces the
next call, so the facts also contain the latest longer reply before the short one."""
REPLIES_BEFORE = 6
"""Number of replies before the last reply that are searched for a longer reply."""
SUMMARY_KEPT = 100_000
"""Maximum characters of a compaction's summary."""


class Collector:
    """Collects the facts of one session from the events that are passed to `feed`."""

    __slots__ = (
        "_away_summary",
        "_background",
        "_calls",
        "_checks",
        "_commits",
        "_compactions",
        "_constraints",
        "_cwd",
        "_failures",
        "_files",
        "_just_compacted",
        "_links",
        "_plans",
        "_prompts",
        "_questions",
        "_recent",
        "_replies",
        "_reply",
        "_subagents",
        "_summary",
        "_tasks",
        "_title",
        "_worked",
    )

    def __init__(self) -> None:
        self._prompts = PromptCollector()
        self._constraints = ConstraintCollector()
        self._questions = QuestionCollector()
        self._plans = PlanCollector()
        self._tasks = TaskCollector()
        self._files = FileCollector()
        self._commits = CommitCollector()
        self._checks = CheckCollector()
        self._failures = FailureCollector()
        self._links = LinkCollector()
        self._subagents = SubagentCollector()
        self._background = BackgroundCollector()
        self._calls: dict[str, CallLine] = {}
        """The main agent's tool calls that have no result yet, by id."""
        self._recent: deque[CallLine] = deque(maxlen=5)
        self._title: str | None = None
        self._reply: str | None = None
        self._replies: deque[str] = deque(maxlen=REPLIES_BEFORE)
        """The replies before `_reply`, oldest first."""
        self._away_summary: str | None = None
        self._summary: Summary | None = None
        self._cwd: str | None = None
        self._compactions = 0
        self._just_compacted = self._worked = False

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript."""
        match event:
            case AssistantReplied():
                self._replied(event)
            case ToolFinished():
                self._finished(event)
            case UserSaid():
                self._said(event)
            case PromptQueued():
                self._note_prompt(self._prompts.queued(event))
            case Identified():
                self._cwd = event.cwd or self._cwd
            case Compacted():
                self._compactions += 0 if self._just_compacted else 1
                self._just_compacted = True
            case Interrupted():
                self._prompts.interrupted(worked=self._worked)
            case Titled():
                self._title = event.text
            case _:
                self._feed_rare(event)

    def _feed_rare(self, event: SessionEvent | Skipped) -> None:
        match event:
            case LastSaid(text=text):
                self._note_reply(text)
            case PromptFileTaken():
                if (prompt := self._prompts.file_taken(event)) is not None:
                    self._constraints.said(prompt.text, prompt.turn)
            case DocumentShown():
                self._prompts.document_shown(event)
            case PlanRecorded():
                self._plans.recorded(event, self._prompts.turn)
            case TodosRecorded():
                self._tasks.recorded(event)
            case InstructionsGiven(path=path):
                self._files.instructed(path)
            case PullRequestLinked():
                self._links.linked(event)
            case AwaySummarized(text=text):
                self._away_summary = cut_at_word(text, REPLY_KEPT)
            case _:
                pass

    def only_running(self, ids: Collection[str]) -> None:
        """Mark every running background task as ended, except those with these ids. Idempotent."""
        self._background.only_running(ids)

    def background(self) -> tuple[BackgroundTask, ...]:
        """Return the background tasks, oldest first."""
        return self._background.tasks

    @property
    def goal(self) -> str | None:
        """The user's first prompt, or the goal in the files or the document that the prompt names.

        A prompt that the user interrupted before any work is replaced by the next prompt. For a
        successor, the goal that cockpit's first prompt quotes. Without a prompt, the session's
        title; None without either.
        """
        return self._prompts.goal if self._prompts.goal is not None else self._title

    def facts(self) -> Facts:
        """Return all facts known so far."""
        return Facts(
            goal=self.goal,
            todos=self._tasks.todos,
            files_modified=self._files.modified,
            commits=self._commits.commits,
            quiet_commits=self._commits.quiet,
            subagents=self._subagents.subagents,
            background=self._background.tasks,
            recent_activity=tuple(map(str, self._recent)),
            last_reply=self._reply,
            longer_reply=self._longer_reply(),
            compactions=self._compactions,
            away_summary=self._away_summary,
            prompts=self._prompts.prompts,
            earlier_prompts=self._prompts.earlier,
            constraints=self._constraints.constraints,
            answers=self._questions.answers,
            refusals=self._questions.refusals,
            checks=self._checks.checks,
            failures=self._failures.failures,
            plan=self._plans.plan,
            links=self._links.links,
            summary=self._summary,
            instructions=self._files.instructions,
            most_read=self._files.most_read,
        )

    def _said(self, event: UserSaid) -> None:
        self._background.passed(event.at)
        if event.shell:
            self._commits.shell(event.shell)
        if event.compact_summary and not event.sidechain and event.text.strip():
            self._summary = Summary(self._prompts.turn, cut_at_word(event.text, SUMMARY_KEPT))
        self._note_prompt(self._prompts.said(event))

    def _note_prompt(self, text: str) -> None:
        if text:
            self._away_summary = None  # written before this prompt, so it lacks the later work
            self._constraints.said(text, self._prompts.turn)

    def _replied(self, event: AssistantReplied) -> None:
        if not event.sidechain:
            self._just_compacted = False
            self._failures.replied(event.message_id)
        for tool in event.tools:
            self._called(tool, main=not event.sidechain)
        if event.sidechain:
            return
        self._worked = self._worked or bool(event.tools)
        if event.text.strip():
            self._note_reply(event.text)

    def _note_reply(self, text: str) -> None:
        if self._reply is not None:
            self._replies.append(self._reply)
        self._reply = cut_at_word(text, REPLY_KEPT)

    def _longer_reply(self) -> str | None:
        """Return the latest longer reply if the last reply is short; else None.

        A longer reply has more than twice the last reply's characters, and more than half of
        `SHORT_REPLY`.
        """
        last = len((self._reply or "").strip())
        if not 0 < last < SHORT_REPLY:
            return None
        longer = (
            reply
            for reply in reversed(self._replies)
            if len(reply.strip()) > max(2 * last, SHORT_REPLY / 2)
        )
        return next(longer, None)

    def _called(self, tool: ToolUse, *, main: bool) -> None:
        """Pass a tool call to the collectors that may find facts in it.

        Most calls run a command, or change or read a file. Passing these calls only to some
        collectors saves a third of the time.
        """
        shell, file = tool.name == "Bash", tool.name in FILE_TOOLS
        other = False
        if shell:
            self._shell_called(tool)
        elif file:
            other = self._file_called(tool)
        else:
            self._links.called(tool)
        if not main:
            return
        line = CallLine(tool, self._cwd)
        if not other:
            self._recent.append(line)
        remember_call(self._calls, tool.id, line)
        self._failures.called(tool.id, line)
        if shell or tool.name == "Edit":
            return
        self._plans.called(tool, self._prompts.turn)
        if not file:
            self._background.called(tool)
            self._tasks.called(tool)
            self._subagents.called(tool)

    def _shell_called(self, tool: ToolUse) -> None:
        command = tool.input.get("command")
        if not isinstance(command, str):
            return
        purpose = purpose_of(command)
        if purpose.changes:
            self._checks.edited()
        if purpose.checks:
            self._checks.called(tool.id, command)
        if purpose.commits:
            self._commits.called(tool)
        if purpose.links:
            self._links.called(tool)

    def _file_called(self, tool: ToolUse) -> bool:
        """Pass a file call to the collectors.

        Returns whether the call changes the draft of a handoff document or a temporary file. Such
        files are not part of the job's work.
        """
        path = changed_path(tool)
        if not path:
            if tool.name == "Read":
                self._files.reads(tool.input.get("file_path"))
            return False
        self._files.changes(tool.id, path)
        if is_draft(path) or is_scratch(path, self._cwd):
            return True
        self._checks.edited()
        return False

    def _finished(self, event: ToolFinished) -> None:
        turn, call = self._prompts.turn, self._calls.pop(event.tool_use_id, None)
        self._files.finished(event)
        self._commits.finished(event)
        self._checks.finished(event, turn)
        self._links.finished(event)
        self._questions.finished(event, turn, call)
        self._failures.finished(event, turn)
        self._plans.finished(event)
        self._tasks.finished(event)
        self._subagents.finished(event)
        self._background.finished(event, call)

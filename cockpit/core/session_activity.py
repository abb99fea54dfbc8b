"""The activity of an agent: working, idle, or waiting for the user.

There are three sources. Hooks report most changes at once. Only the transcript shows an interrupt.
The status file that the CLI writes for its process shows changes that hooks and transcript miss.
Every report has a time, and an older report never overrides a newer report.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from cockpit.core.cli_events import (
    CliEvent,
    CompactionBegins,
    CompactionOver,
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SessionClosed,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import BackgroundTask
from cockpit.core.handoff.events import Turn

FILE_LAG = 1.5
"""The status file overrides the latest report of a hook or the transcript only if the file is newer
by at least this many seconds. Exception: an open dialog in the file needs no such lag."""
FILE_UNCHANGED = 4.0
"""A status file that has not changed for this many seconds overrides every older report, even a
report that is older by less than `FILE_LAG`."""
SERVER_TASKS: Final = frozenset({"shell", "monitor"})
"""Types of background tasks that may run indefinitely, such as a server.

An agent is idle if its turn has ended and only tasks of these types run.
"""


@dataclass(slots=True)
class SessionActivity:
    """The activity of one session. All times are in seconds, on the same clock."""

    turn: Turn = Turn.UNKNOWN
    since: float = 0.0
    began: bool = False
    """Whether the CLI reported that the session has started."""
    closed: str | None = None
    """The CLI's reason for ending the session; None while the session is open."""
    prompts: int = 0
    """Number of prompts that the CLI accepted."""
    turns: int = 0
    """Number of turns that ended without an API error or an interrupt (`TurnOver`)."""
    dialog: DialogOpened | None = None
    asked_at: float = 0.0
    """When the dialog's question was reported; 0 if only the status file mentions the dialog."""
    remembered: tuple[DialogOpened, float] | None = None
    """A dialog that may be closed by now, and when it was reported. Set after a restart of the
    supervisor, or when another tool call returns. None without such a dialog."""
    broken: TurnBroken | None = None
    """The error that ended the last turn, until the next prompt; None without such an error."""
    subagents: dict[str, str] = field(default_factory=dict)
    background: tuple[BackgroundTask, ...] = ()
    """Background tasks that were running when the last turn ended. Shells are removed when the
    status file reports that no shell runs."""
    background_known: bool = False
    """Whether the CLI has reported `background` at the end of a turn, or that no shell runs."""
    last_reply: str = ""
    """The agent's last reply when a turn ended; empty after a new prompt."""
    last_reply_at: float = 0.0
    interrupted_at: float = -1.0
    """Time of the last interrupt of a turn; -1 if there was none."""
    tools: int = 0
    """Number of tool calls that returned."""
    compactions_announced: int = 0
    """Number of times that the CLI announced a compaction."""
    compactions: int = 0
    """Number of times that the CLI reported a finished compaction."""
    continuations: int = 0
    """Number of times that the CLI reported that the session continues after a compaction."""
    doing: str | None = None
    """Description of the last tool call, or of the last subagent that was started, in one line;
    None before the first one."""
    last_report_at: float = 0.0
    """Time of the latest report of a hook or the transcript."""

    def apply(self, event: CliEvent, at: float) -> None:
        """Process a hook event, or a failed turn in the transcript.

        An event older than the latest report does not change the turn.
        """
        late = at < self.last_report_at
        self.last_report_at = max(at, self.last_report_at)
        match event:
            case SessionBegan(source=source):
                self.began = True
                self.continuations += source == "compact"
                if self.turn is Turn.UNKNOWN:
                    self._turn(Turn.IDLE, at)
            case SessionClosed(reason=reason):
                self.closed = reason
            case PromptTaken():
                self.prompts += 1
                self.broken = None
                self.record_reply("", at)
                if not late:
                    self._work(at)
            case ToolUsed(words=words, tool=tool):
                self.doing = words
                self.tools += 1
                if not late:
                    asked = self._asked_by_other(tool)
                    self._work(at)
                    self.remembered = asked
            case TurnOver(text=text, background=background):
                self.turns += 1
                self.record_reply(text, at)
                self.background, self.background_known = background, True
                if not late:
                    self._rest(at)
            case TurnBroken():
                self.broken = event
                if not late:
                    self._rest(at)
            case DialogOpened():
                if not late:
                    self._ask(event, at)
            case CompactionBegins():
                self.compactions_announced += 1
            case CompactionOver():
                self.compactions += 1
            case SubagentBegan(id=ident, type=kind, words=words):
                self.subagents[ident] = kind
                self.doing = words or self.doing
            case SubagentOver(id=ident):
                self.subagents.pop(ident, None)
            case _:
                pass

    def record_reply(self, text: str, at: float) -> None:
        """Set the agent's last reply, or clear it after a new prompt; ignore an older reply.

        The reply comes from a hook or from the transcript.
        """
        if at >= self.last_reply_at:
            self.last_reply, self.last_reply_at = text, at

    def remember(self, dialog: DialogOpened, at: float) -> None:
        """Restore a dialog from before a restart of the supervisor.

        The dialog is shown only after the CLI's status file confirms that it is still open.
        """
        self.remembered = (dialog, at)
        self.last_report_at = max(at, self.last_report_at)

    def record_interrupt(self, at: float) -> None:
        """Record that the user pressed Esc, which the transcript shows. The turn and its subagents
        end, unless a later report is known."""
        self.interrupted_at = max(at, self.interrupted_at)
        if at >= self.last_report_at:
            self.last_report_at = at
            self.subagents.clear()
            self._rest(at)

    def apply_transcript(self, *, working: bool, at: float) -> None:
        """Record the beginning or end of a turn in the transcript; ignored if outdated."""
        if at >= self.last_report_at:
            self.last_report_at = at
            if working:
                self._work(at)
            else:
                self._rest(at)

    @property
    def cut_short(self) -> bool:
        """Whether the user interrupted the last turn and has given no prompt since."""
        return self.interrupted_at >= self.last_reply_at

    @property
    def works_in_background(self) -> bool:
        """Whether subagents or background tasks not in `SERVER_TASKS` run, even if the turn has
        ended."""
        return bool(self.subagents) or any(
            task.type not in SERVER_TASKS for task in self.background
        )

    def apply_status_file(
        self,
        turn: Turn,
        waiting_for: str | None,
        at: float,
        *,
        unchanged: float = 0.0,
        shells: bool | None = None,
    ) -> None:
        """Process the CLI's status file, which the CLI wrote at the time `at`.

        `unchanged`: seconds since the file's last change. After `FILE_UNCHANGED` seconds, a file
        that is newer than the latest report of a hook or the transcript shows that a later report
        was lost. `shells`: whether shells run in the background, None if unknown. The user can end
        a shell without a hook event.
        """
        self._apply_turn(turn, waiting_for, at, unchanged)
        if shells is False and self.turn is Turn.IDLE and at >= self.since:
            self.background = tuple(task for task in self.background if task.type != "shell")
            self.background_known = True

    def _apply_turn(self, turn: Turn, waiting_for: str | None, at: float, unchanged: float) -> None:
        if turn is Turn.DIALOG and self._recognised(at):
            return
        lag = FILE_LAG if unchanged < FILE_UNCHANGED else 0.0
        if turn is Turn.UNKNOWN or at < self.last_report_at + lag:
            if turn is Turn.DIALOG and self.dialog is None and at >= self.last_report_at:
                self._open(waiting_for, at)
            return
        if turn is Turn.DIALOG:
            self._open(waiting_for, at)
        elif turn is Turn.WORKING:
            self._work(at)
        else:
            self._rest(at)

    def _ask(self, event: DialogOpened, at: float) -> None:
        """Record an open dialog; ignore a second report of the same dialog with less detail.

        The CLI's notification comes after the hook, and reports even a question as a permission.
        """
        known = self.dialog
        says_less = event.kind == "permission" and not event.tool
        if known is None or not says_less or not (known.tool or known.kind == "question"):
            self.dialog, self.asked_at = event, at
        if not says_less:
            self.remembered = None
        self._turn(Turn.DIALOG, at)

    def _asked_by_other(self, tool: str) -> tuple[DialogOpened, float] | None:
        """Return the dialog that may still be open, and when it was reported.

        `tool` is the tool of a call that returned. Tool calls run in parallel, so another call's
        dialog may still be open. It is also possible that the user refused the dialog, and that the
        call that returned is the agent's next call. Only the status file shows which is the case.
        Returns None without a dialog, if `tool` opened the dialog, or if the tool of the call or
        dialog is unknown.
        """
        known = (self.dialog, self.asked_at) if self.dialog and self.asked_at else self.remembered
        if known is None or not tool or known[0].asked_by in {"", tool}:
            return None
        return known

    def _recognised(self, at: float) -> bool:
        """Reopen the remembered dialog if the status file from time `at` is about that dialog.

        Returns whether the dialog was reopened. If not, the dialog is forgotten. The CLI writes its
        status file again when the next dialog opens, so a file that is not newer than the
        remembered dialog is about that dialog. The CLI runs the hook and writes the file 20 ms
        apart (2.1.330).
        """
        known, self.remembered = self.remembered, None
        if known is None or at > known[1] + FILE_LAG:
            return False
        self.dialog, self.asked_at = known
        self._turn(Turn.DIALOG, self.asked_at)
        return True

    def _open(self, waiting_for: str | None, at: float) -> None:
        if self.dialog is None:
            detail = waiting_for or "a dialog is open"
            kind = "permission" if "permission" in detail else "question"
            self.dialog = DialogOpened(kind, detail)  # type: ignore[arg-type]
            self.asked_at = 0.0
        self._turn(Turn.DIALOG, at)

    def _work(self, at: float) -> None:
        self.dialog = self.remembered = None
        self._turn(Turn.WORKING, at)

    def _rest(self, at: float) -> None:
        self.dialog = self.remembered = None
        self._turn(Turn.IDLE, at)

    def _turn(self, turn: Turn, at: float) -> None:
        if turn is not self.turn:
            self.since = at
        self.turn = turn

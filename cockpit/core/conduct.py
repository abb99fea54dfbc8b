"""What an agent is doing: working, idle, waiting for the user. Told by moments, newest wins.

Three witnesses are heard. Hooks say most things at once; the session's record alone knows of an
interrupt; the CLI's own note of its process covers what both miss. Each carries the time at which
it was made, and an older word never overrules a newer one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cockpit.core.facts import BackgroundTask
from cockpit.core.handoff.events import Turn
from cockpit.core.moments import (
    CompactionBegins,
    CompactionOver,
    DialogOpened,
    Moment,
    PromptTaken,
    SessionBegan,
    SessionClosed,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)

NOTE_LAG = 1.5
"""Seconds by which the CLI's note must be newer than the last moment to overrule it."""
NOTE_STANDS = 4.0
"""Seconds after which a note that is newer at all does so."""
SERVES: Final = frozenset({"shell", "monitor"})
"""Background tasks that may run for ever: a server, a watcher. The agent is idle beside them."""


@dataclass(slots=True)
class Conduct:
    """One session's conduct so far. Times are seconds on one clock, as the witnesses had it."""

    turn: Turn = Turn.UNKNOWN
    since: float = 0.0
    began: bool = False
    """The CLI said that the session is up."""
    closed: str | None = None
    """The CLI's reason for ending the session, once it gave one."""
    prompts: int = 0
    """Prompts accepted."""
    turns: int = 0
    """Turns that ended."""
    dialog: DialogOpened | None = None
    asked_at: float = 0.0
    """When it was heard what the dialog asks; 0 where only the CLI's note tells of one."""
    remembered: tuple[DialogOpened, float] | None = None
    """What a dialog asked when somebody last watched, and when; unproved that it still stands."""
    broken: TurnBroken | None = None
    """The error that ended the last turn, until the next prompt."""
    subagents: dict[str, str] = field(default_factory=dict)
    background: tuple[BackgroundTask, ...] = ()
    """What ran in the background when the last turn ended, less what is known to have ended."""
    background_known: bool = False
    """The CLI said what runs in the background: at the end of a turn, or that no shell does."""
    last_words: str = ""
    """The last thing the agent said when a turn ended; empty once it was given a new prompt."""
    words_at: float = 0.0
    cut_at: float = -1.0
    """When a turn was last interrupted; before anything else while none was."""
    tools: int = 0
    """Calls of tools that came back."""
    compactions_announced: int = 0
    """Times the CLI said that it is about to compact, or prepares to."""
    compactions: int = 0
    """Times it said that it has."""
    begun_anew: int = 0
    """Times it said that the session goes on from a compaction."""
    activity: str | None = None
    """The last tool call, in one line."""
    last_moment: float = 0.0

    def hear(self, moment: Moment, at: float) -> None:
        """Take a moment in. One that is older than the last is kept for its facts only."""
        late = at < self.last_moment
        self.last_moment = max(at, self.last_moment)
        match moment:
            case SessionBegan(source=source):
                self.began = True
                self.begun_anew += source == "compact"
                if self.turn is Turn.UNKNOWN:
                    self._turn(Turn.IDLE, at)
            case SessionClosed(reason=reason):
                self.closed = reason
            case PromptTaken():
                self.prompts += 1
                self.broken = None
                self.spoke("", at)
                if not late:
                    self._work(at)
            case ToolUsed(words=words):
                self.activity = words
                self.tools += 1
                if not late:
                    self._work(at)
            case TurnOver(text=text, background=background):
                self.turns += 1
                self.spoke(text, at)
                self.background, self.background_known = background, True
                if not late:
                    self._rest(at)
            case TurnBroken():
                self.broken = moment
                if not late:
                    self._rest(at)
            case DialogOpened():
                if not late:
                    self._ask(moment, at)
            case CompactionBegins():
                self.compactions_announced += 1
            case CompactionOver():
                self.compactions += 1
            case SubagentBegan(id=ident, type=kind):
                self.subagents[ident] = kind
            case SubagentOver(id=ident):
                self.subagents.pop(ident, None)
            case _:
                pass

    def spoke(self, words: str, at: float) -> None:
        """What the agent said when a turn ended, or nothing because it was prompted anew.

        Told by a hook or by the record, which alone remembers it for a supervisor that was away.
        """
        if at >= self.words_at:
            self.last_words, self.words_at = words, at

    def remember(self, dialog: DialogOpened, at: float) -> None:
        """What was asked at that time, written down by one who watched then.

        It is not shown before the CLI's own note says that the same dialog still stands.
        """
        self.remembered = (dialog, at)
        self.last_moment = max(at, self.last_moment)

    def interrupted(self, at: float) -> None:
        """The record shows that the user pressed Esc; subagents die with the turn."""
        self.cut_at = max(at, self.cut_at)
        if at >= self.last_moment:
            self.last_moment = at
            self.subagents.clear()
            self._rest(at)

    @property
    def cut_short(self) -> bool:
        """The last turn was interrupted, and nobody has given a prompt since."""
        return self.cut_at >= self.words_at

    @property
    def works_in_background(self) -> bool:
        """Whether the agent's own work goes on after its turn: subagents, workflows."""
        return bool(self.subagents) or any(task.type not in SERVES for task in self.background)

    def noted(
        self,
        turn: Turn,
        waiting_for: str | None,
        at: float,
        *,
        stood: float = 0.0,
        shells: bool | None = None,
    ) -> None:
        """What the CLI's own note of the process says, as of when it wrote it.

        `stood` is for how many seconds it has said so: after a while it is no race with a hook
        any more, but the word of a hook that was lost. `shells` is whether shells run in the
        background: you can end one with no hook called.
        """
        self._note_turn(turn, waiting_for, at, stood)
        if shells is False and self.turn is Turn.IDLE and at >= self.since:
            self.background = tuple(task for task in self.background if task.type != "shell")
            self.background_known = True

    def _note_turn(self, turn: Turn, waiting_for: str | None, at: float, stood: float) -> None:
        if turn is Turn.DIALOG and self._recognised(at):
            return
        lag = NOTE_LAG if stood < NOTE_STANDS else 0.0
        if turn is Turn.UNKNOWN or at < self.last_moment + lag:
            if turn is Turn.DIALOG and self.dialog is None and at >= self.last_moment:
                self._open(waiting_for, at)
            return
        if turn is Turn.DIALOG:
            self._open(waiting_for, at)
        elif turn is Turn.WORKING:
            self._work(at)
        else:
            self._rest(at)

    def _ask(self, moment: DialogOpened, at: float) -> None:
        """A dialog is open; a second word of the same one that says less changes nothing.

        The CLI's notification comes after the hook, and calls a question a permission too.
        """
        known = self.dialog
        says_less = moment.kind == "permission" and not moment.tool
        if known is None or not says_less or not (known.tool or known.kind == "question"):
            self.dialog, self.asked_at = moment, at
        if not says_less:
            self.remembered = None
        self._turn(Turn.DIALOG, at)

    def _recognised(self, at: float) -> bool:
        """Whether a dialog that is open since then is the one that is remembered.

        The CLI notes anew when the next one opens; a note that is older than our word of what is
        asked, or as old, is of the same. Twenty milliseconds lie between the two (2.1.330).
        """
        known, self.remembered = self.remembered, None
        if known is None or at > known[1] + NOTE_LAG:
            return False
        self.dialog, self.asked_at = known
        self._turn(Turn.DIALOG, self.asked_at)
        return True

    def _open(self, waiting_for: str | None, at: float) -> None:
        if self.dialog is None:
            words = waiting_for or "a dialog is open"
            kind = "permission" if "permission" in words else "question"
            self.dialog = DialogOpened(kind, words)  # type: ignore[arg-type]
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

"""The known facts about an agent's session; replaced when another session begins.

Filled from transcripts, hooks and status lines. Makes no decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import datetime
from typing import Any

from cockpit.core.activity import activity
from cockpit.core.cli_events import CliEvent, CompactionOver, PromptTaken, TurnBroken
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import BackgroundTask, Facts
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.events import Turn
from cockpit.core.prompt_files import mentioned_files
from cockpit.core.rate_limits import RateLimit, exhausted_until
from cockpit.core.reading import Window
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    Interrupted,
    LimitsReported,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnEnded,
    TurnFailed,
    TurnRecorded,
    UserSaid,
)
from cockpit.core.session_activity import SessionActivity
from cockpit.ports.runtimes import CompactionRule, Report
from cockpit.supervisor.agents.compaction_notes import CompactionNotes
from cockpit.supervisor.agents.transcript_reading import TranscriptReading

NOTIFIED = "<task-notification>"
"""Prefix of a prompt that the CLI sends itself when a background task ends."""
ENDS_TURN = "end_turn"
"""The model's stop reason at the end of a turn."""
LATER = 1e-6
"""Minimum seconds between the times of two lines of a transcript, so that the times keep the order
of the lines."""
_BROKEN_BY = {401: "authentication_failed", 404: "model_not_found", 429: "rate_limit"}
"""Maps an HTTP status of the API to the error name that a hook would report for it. Other statuses
are `unknown`."""
MOST_READS = 500
"""Maximum tool calls whose paths are kept; later calls are ignored."""
MOST_KEPT = 4000
"""Maximum characters kept of a prompt or an injected context. A handoff request names its file
within these characters."""


@dataclass(slots=True)
class SessionState:
    """The state of one session, as far as cockpit has observed it.

    Times are seconds of `Clock.steady`, which ignores changes of the wall clock.
    """

    directory: str
    """The agent's directory; displayed paths are relative to it."""
    window_of: Callable[[str | None], Window]
    """Returns the context window that the agent's CLI uses for a model."""
    compacts_before_prompts: bool = False
    """Whether the CLI compacts only the content before the session's last prompt."""
    activity: SessionActivity = field(default_factory=SessionActivity)
    gauge: Gauge = field(default_factory=Gauge)
    reading: TranscriptReading = field(default_factory=TranscriptReading)
    compaction: CompactionNotes = field(default_factory=CompactionNotes)
    model: str | None = None
    compaction_rule: CompactionRule | None = None
    """The CLI's rule for when to compact, according to the CLI's settings when cockpit began to
    watch the session; None before that."""
    compacts_at: int | None = None
    """Tokens at which the CLI compacts automatically, as stated in the transcript; else None."""
    cost_usd: float | None = None
    limit_resets: float | None = None
    """When a reached usage limit resets, from the status line or transcript, in unix seconds; None
    if unknown."""
    rate_limits: tuple[RateLimit, ...] = ()
    """The account's usage limits, as last reported in the status line or transcript."""
    permission_mode: str | None = None
    """The newest permission mode in the transcript or a hook; the user may change it any time."""
    began_with: str | None = None
    """First permission mode of a session that this supervisor began (`begun_here`); else None."""
    begun_here: bool = False
    """Whether this supervisor started the session as a new one, not reopened."""
    replied: bool = False
    """Whether the transcript has an assistant message."""
    _turn_text: str = ""
    """The newest text in the transcript's last turn; empty if the turn called a tool since."""
    _reads: dict[str, set[str]] = field(default_factory=dict)
    """Paths and commands of tool calls, by the call's id; see `read_paths`."""
    prompt_files_named: set[str] = field(default_factory=set)
    """Prompt files that the transcript mentions, and that the CLI is not known to have read."""
    prompt_files_taken: set[str] = field(default_factory=set)
    """Prompt files that the CLI has read, until they are deleted."""
    refusals: int = 0
    """Number of tool calls that the user refused, according to the transcript."""
    received: list[str] = field(default_factory=list)
    """The newest 40 injected contexts and prompts, in order: they prove that a request arrived."""
    user_prompts: list[tuple[float, str]] = field(default_factory=list)
    """Time and text of the user's newest 40 prompts, in order."""
    last_activity: float | None = None
    quiet_since_start: bool = True
    """Whether a trust or login dialog may still be open. False after a second hook report, after a
    transcript line, or when a prompt box is shown after the first hook report."""
    has_begun: bool = False
    """Whether a hook has reported the start of the session."""
    began_at: float | None = None
    """Start of the session's process, in monotonic seconds; None if an earlier
    supervisor started the process."""
    opened_at: float | None = None
    """When the session's process was started, in Unix seconds; None if unknown."""
    background: tuple[BackgroundTask, ...] = ()
    """The running background tasks, without secrets."""
    version: str | None = None
    """Version of the CLI, from the status line."""
    before: Facts | None = None
    """Facts of the session before `/clear`, until the current session has received them."""
    catching_up: bool = True
    """Whether lines that the transcript had when it was opened are being read. These lines are
    counted, but cause no alarm."""

    def see_mode(self, mode: str | None) -> None:
        """Record the permission mode that the transcript or a hook reports."""
        if mode:
            self.permission_mode = mode
            if self.begun_here and self.began_with is None:
                self.began_with = mode

    # Input

    def read(
        self, events: Iterable[SessionEvent | Skipped], at: float, clock_offset: float = 0.0
    ) -> None:
        """Process new lines of the transcript, in order.

        `at`: when the lines were read, in seconds of `Clock.steady`. `clock_offset`: `Clock.steady`
        minus the wall clock, in seconds; converts the timestamps of the lines.
        """
        for event in events:
            if isinstance(event, Skipped):
                self._skip(event)
                continue
            self._feed_meter(event)
            self.reading.collector.feed(event)
            self.reading.running.feed(event)
            self.reading.steps.feed(event)
            self._take(event, at, clock_offset)

    def _skip(self, event: Skipped) -> None:
        """Count a skipped line.

        If the line may have contained the newest token count, marks the token count as unknown.
        """
        self.reading.skipped += 1
        if event.reason in ("too-long", "too-many-values"):
            self.reading.too_large += 1
        if event.reason == "fault":
            self.reading.faults += 1
            self.reading.last_fault = event.detail
        self.reading.meter.feed(event)
        if event.reading:
            self.reading.reading_lost = True
            self.gauge.lose()

    @property
    def behind(self) -> bool:
        """Whether lines that the transcript had when it was opened are still unread."""
        tail = self.reading.tail
        return self.catching_up and tail is not None and tail.behind > 0

    def caught_up(self) -> None:
        """Note that the transcript was read to its end; use its last token count. Idempotent."""
        if self.catching_up:
            self.catching_up = False
            if self.reading.reply_at is not None:
                self._update_gauge(self.reading.reply_at)

    def _feed_meter(self, event: SessionEvent) -> None:
        """Count the event, and note at how many tokens the CLI compacted or did not compact.

        Notes no token count while `catching_up`, or if the transcript says at how many tokens the
        CLI compacts.
        """
        meter = self.reading.meter
        calls, tokens, compactions = meter.api_calls, meter.tokens, meter.compactions
        meter.feed(event)
        # A second line about the same compaction may lack the trigger.
        if isinstance(event, Compacted) and (event.trigger or meter.compactions > compactions):
            self.compaction.last_trigger = event.trigger
        could_compact = self.compaction.prompted or not self.compacts_before_prompts
        if isinstance(event, UserSaid) and not (event.meta or event.sidechain):
            self.compaction.prompted = True
        earlier = self.compaction.before_last_reply
        if meter.api_calls > calls:
            self.compaction.before_last_reply = tokens
            self.compaction.prompted = False
        if self.catching_up or self.compacts_at is not None:
            return
        if meter.api_calls > calls and tokens is not None:
            if could_compact:
                self.compaction.passed = max(tokens, self.compaction.passed or 0)
        elif isinstance(event, Compacted):
            if tokens is not None and earlier is not None:
                # Codex records the request for the summary as a reply, and a gateway can count
                # less for it than for the conversation.
                tokens = max(tokens, earlier)
            before = tokens or event.pre_tokens or self.compaction.unexplained_at
            if event.trigger == "auto":
                self.compaction.by_itself_at = before
            self.compaction.unexplained_at = before if not event.trigger else None

    def _take(self, event: SessionEvent, at: float, clock_offset: float) -> None:
        when = self._dated(event, at, clock_offset)
        if not isinstance(event, Identified):
            # A CLI can begin its transcript while its trust dialog is still open.
            self.quiet_since_start = False
        match event:
            case AssistantReplied(sidechain=False):
                self.replied = True
                self.last_activity = when
                if self.catching_up:
                    self.activity.broken = None
                self._note_reads(event)
                self._record_reply(event, when)
                if event.context is not None:
                    self.reading.reply_at = when
                    self.reading.reading_lost = False
                    if not self.behind:
                        self._update_gauge(when)
            case UserSaid(sidechain=False, compact_summary=False, text=text):
                note_bounded(self.received, text[:MOST_KEPT])
                self.last_activity = when
                self.prompt_files_named.update(mentioned_files(text))
                self._turn_text = ""
                if not event.meta:
                    self.activity.broken = None if self.catching_up else self.activity.broken
                    self.activity.record_reply("", when)
                    note_bounded(self.user_prompts, (when, text[:MOST_KEPT]))
            case PromptFileTaken(path=path) if path in self.prompt_files_named:
                self.prompt_files_named.discard(path)
                self.prompt_files_taken.add(path)
            case ToolFinished(sidechain=False):
                self.last_activity = when
                self.refusals += event.refused
                self._note_result(event)
            case Compacted(pre_tokens=before):
                self.gauge.compacted(when, before)
            case ApiFailed(status=status, error=error, resets_at=resets) if self.catching_up:
                # Hooks report later failures; this line existed when the transcript was opened.
                kind = _BROKEN_BY.get(status or 0, "unknown")
                self.activity.broken = TurnBroken(kind, error, resets)
            case TurnFailed(error=failure):
                kind = _BROKEN_BY.get(failure.status or 0, "unknown")
                broken = TurnBroken(kind, failure.error, failure.resets_at)
                self.activity.apply(broken, when)
            case TurnRecorded(working=working, at=recorded_at):
                # A turn of an earlier process ended with that process, perhaps without a line.
                ended = self._is_before_opening(recorded_at)
                self.activity.apply_transcript(working=working and not ended, at=when)
            case TurnEnded():
                # Some CLIs mark the end of a turn, but not the reply that ends it.
                if self._turn_text:
                    self.activity.record_reply(self._turn_text, when)
            case Interrupted():
                self._turn_text = ""
                self.activity.record_interrupt(when)
            case CostCounted(total_usd=total):
                self.cost_usd = total
            case LimitsReported(limits=limits):
                self.rate_limits = limits
                self.limit_resets = exhausted_until(limits)
            case Identified():
                self.see_mode(event.permission_mode)
                if event.window:
                    self.gauge.report_window(event.window)
                    self.compacts_at = event.compacts_at
            case _:
                if text := getattr(event, "text", ""):
                    note_bounded(self.received, text[:MOST_KEPT])

    def _is_before_opening(self, at: datetime | None) -> bool:
        """Return whether a line is known to be older than the session's process."""
        return self.opened_at is not None and at is not None and at.timestamp() < self.opened_at

    def _dated(self, event: SessionEvent, at: float, clock_offset: float) -> float:
        """Return the line's time in seconds of `Clock.steady`.

        If the line has a timestamp, its time is later than that of the previous line with a
        timestamp.
        """
        when = stamp(event, at, clock_offset)
        if getattr(event, "at", None) is not None:
            when = self.reading.read_to = max(when, self.reading.read_to + LATER)
        return when

    @property
    def read_paths(self) -> set[str]:
        """Paths and commands of tool calls: they prove that a new session read its document.

        A call without a result in the transcript counts. A call that failed, was refused, was
        interrupted or printed nothing does not count.
        """
        return set().union(*self._reads.values())

    def _note_reads(self, reply: AssistantReplied) -> None:
        for tool in reply.tools:
            named = (tool.input.get(key) for key in ("file_path", "command"))
            paths = {value for value in named if isinstance(value, str)}
            if paths and len(self._reads) < MOST_READS:
                self._reads.setdefault(tool.id, set()).update(paths)

    def _note_result(self, result: ToolFinished) -> None:
        if result.failed or result.refused or result.interrupted or result.empty:
            self._reads.pop(result.tool_use_id, None)

    def _record_reply(self, reply: AssistantReplied, at: float) -> None:
        """Record the activity in a reply; if the reply ends the turn, also the reply's text."""
        self._turn_text = "" if reply.tools else reply.text or self._turn_text
        if reply.tools:
            self.activity.doing = activity(reply.tools[-1], self.directory)
        if reply.stop_reason == ENDS_TURN and reply.text:
            self.activity.record_reply(reply.text, at)

    def _update_gauge(self, at: float) -> None:
        meter = self.reading.meter
        if meter.model and meter.model != self.model:
            self.model = meter.model
        self.gauge.derive_window(self.window_of(self.model))
        if meter.tokens is not None:
            self.gauge.set_tokens(meter.tokens, "transcript", at)

    def apply(self, event: CliEvent, at: float) -> None:
        """Process a hook event."""
        self.activity.apply(event, at)
        match event:
            case CompactionOver():
                self.gauge.compacted(at, by_hook=True)
            case PromptTaken(text=text) if not text.startswith(NOTIFIED):
                # A prompt queued while the agent works never becomes a user line in the transcript.
                note_bounded(self.user_prompts, (at, text[:MOST_KEPT]))
                note_bounded(self.received, text[:MOST_KEPT])
            case _:
                pass

    def drop_ended_background(self) -> None:
        """Drop background tasks that the CLI no longer listed when the turn ended. Idempotent.

        Does nothing during a turn, because the turn may start new tasks.
        """
        activity = self.activity
        if activity.turn is Turn.IDLE and activity.background_known:
            self.reading.collector.only_running({task.id for task in activity.background})

    def report(self, report: Report, at: float) -> None:
        """Process a status line of this session."""
        if report.window:
            self.gauge.report_window(report.window)
        if report.usage is not None and report.usage.context:
            self.gauge.set_tokens(report.usage.context, "statusline", at)
        if report.cost_usd is not None:
            self.cost_usd = report.cost_usd
        if report.model:
            self.model = report.model
        self.version = report.version or self.version
        self.limit_resets = report.limit_resets or self.limit_resets
        self.rate_limits = report.rate_limits or self.rate_limits


def stamp(event: SessionEvent, otherwise: float, clock_offset: float = 0.0) -> float:
    """Return the event's time in seconds of `Clock.steady`; at most `otherwise`.

    Returns `otherwise` for an event without a time.
    """
    at = getattr(event, "at", None)
    return min(at.timestamp() + clock_offset, otherwise) if at is not None else otherwise


def note_bounded(notes: list[Any], item: Any, most: int = 40) -> None:
    """Append an item to a list. Above `most` items, drops the oldest ones."""
    notes.append(item)
    del notes[:-most]

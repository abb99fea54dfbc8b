"""Watching: reports, records, notes and processes, each as often as it is worth.

Reports of hooks come by a change of their folder, ends of processes by the kernel; records are
looked at 25 times a second while their agent works and twice while it does not. Trouble with one
agent stays with that agent. What is seen is handed on; what follows from it is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cockpit.adapters.transcripts.tail import Fetched, Tail, Unreadable
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import is_revocable
from cockpit.core.moments import CompactionBegins, DialogOpened, SessionBegan, TurnOver
from cockpit.core.session import SessionEvent, Skipped
from cockpit.ports.runtimes import Activity, Presence, Report, Signal
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents import background_work
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import dialog_without_secrets, redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions

HOT = 0.04
"""Seconds between looks at the record of an agent that works."""
CALM = 0.5
NOTES = 1.0
"""Seconds between looks at the CLI's own notes of its processes."""
SILENT_START = 6.0
"""Seconds after which a new session that said nothing is looked at: a dialog may be open."""

_log = logging.getLogger(__name__)

_TURNS = {
    Activity.BUSY: Turn.WORKING,
    Activity.IDLE: Turn.IDLE,
    Activity.WAITING: Turn.DIALOG,
    Activity.UNKNOWN: Turn.UNKNOWN,
}

Consider = Callable[[Agent], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What was read of an agent's record, or why nothing could be."""

    agent: Agent
    tail: Tail
    answer: Fetched | Unreadable | Exception | None


class Watch:
    """Looks at all agents, and says of each when something about it is new."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: Sessions,
        agents: Callable[[], Iterable[Agent]],
        take: Callable[[], list[Signal]],
        consider: Consider,
        compacted: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._agents = agents
        self._take = take
        self._consider = consider
        self._compacted = compacted
        self.compacts: Callable[[Agent], object] = lambda _: None
        """Called when a session's CLI is about to compact it, and waits."""
        self._wake = asyncio.Event()
        self._reports = asyncio.Event()

    # Reports of hooks and status lines

    def reported(self) -> None:
        """The spool has something."""
        self._reports.set()

    async def hear(self) -> None:
        """Take reports as they come, for ever."""
        while True:
            await self._reports.wait()
            self._reports.clear()
            for agent in self.hear_once():
                await self._safely(agent, self._consider(agent))

    async def consider(self, agent: Agent) -> None:
        """Have what is known of an agent looked at, without news."""
        await self._safely(agent, self._consider(agent))

    def hear_once(self) -> list[Agent]:
        """Take what is there; the agents that it was about."""
        by_name = {agent.name: agent for agent in self._agents()}
        touched: dict[str, Agent] = {}
        for signal in self._take():
            agent = by_name.get(signal.agent)
            if agent is not None and self._heard(agent, signal):
                touched[agent.name] = agent
        if touched:
            self._wake.set()
        return list(touched.values())

    def _heard(self, agent: Agent, signal: Signal) -> bool:
        """Whether a report was about the sitter; a disk that refuses makes nobody deaf."""
        try:
            return self._hear(agent, signal)
        except CockpitError as refused:
            agent.troubles.watching = str(refused)
            return True

    def _hear(self, agent: Agent, signal: Signal) -> bool:
        """Take one report in. One of another session than the agent's is not about its sitter."""
        if not self._is_of_sitter(agent, signal):
            return False
        agent.troubles.dialog = None
        agent.session_state.quiet_since_start = False
        at = self._dated(agent, signal.at)
        report = agent.runtime.report(signal)
        if report is not None:
            self._take_report(agent, report, at)
            return True
        if not signal.subagent:
            agent.session_state.last_activity = max(at, agent.session_state.last_activity or 0.0)
            if isinstance(mode := signal.payload.get("permission_mode"), str):
                agent.session_state.see_mode(mode)
        told = agent.runtime.moments(signal)
        for moment in told:
            if isinstance(moment, DialogOpened):
                moment = dialog_without_secrets(
                    moment, redactor_of(self._dependencies.environment, agent)
                )
            agent.session_state.hear(moment, at)
        if any(isinstance(moment, CompactionBegins) for moment in told):
            self.compacts(agent)
        if any(isinstance(moment, TurnOver) for moment in told):
            self._settle_background(agent)
        return True

    def _settle_background(self, agent: Agent) -> None:
        background_work.settle(agent, lambda: redactor_of(self._dependencies.environment, agent))

    def _take_report(self, agent: Agent, report: Report, at: float) -> None:
        if report.transcript is not None:
            self._sessions.follow(agent, report.transcript)
        agent.session_state.report(report, at)

    def _is_of_sitter(self, agent: Agent, signal: Signal) -> bool:
        """`/clear` begins a new session in the same process: the agent follows it."""
        ours, theirs = agent.record.session, signal.session_id
        if ours is None or theirs is None or theirs == ours:
            return ours is not None
        if not agent.alive or not (agent.handoff is None or is_revocable(agent.handoff)):
            return False
        began = [
            moment
            for moment in agent.runtime.moments(signal)
            if isinstance(moment, SessionBegan) and moment.source in {"clear", "resume", "fork"}
        ]
        if not began:
            return False
        given = signal.payload.get("transcript_path")
        transcript = given if isinstance(given, str) else None
        self._sessions.cleared(agent, theirs, transcript, began[0].source)
        return True

    # Records

    async def read(self) -> None:
        """Follow the records of all agents, for ever."""
        while True:
            hot = False
            self._wake.clear()
            watched = [
                agent for agent in self._agents() if agent.alive or agent.handoff is not None
            ]
            for agent in watched:
                hot = (
                    hot or agent.session_state.conduct.turn is Turn.WORKING or self._starting(agent)
                )
            for fetched in await self._fetch(watched):
                await self._safely(fetched.agent, self._take_in_and_consider(fetched))
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation, and never end.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HOT if hot else CALM):
                    await self._wake.wait()

    def _starting(self, agent: Agent) -> bool:
        return not agent.session_state.replied

    async def _take_in_and_consider(self, fetched: _Fetched) -> None:
        session_state = fetched.agent.session_state
        before = session_state.reading.unreadable
        if self._take_in(fetched) or session_state.reading.unreadable != before:
            await self._consider(fetched.agent)

    async def read_once(self, agent: Agent) -> bool:
        """Take in the next piece of the agent's record; False if there was nothing more."""
        fetched = await self._fetch([agent])
        if not fetched:
            return False
        return self._take_in(fetched[0]) or bool(fetched[0].tail.behind)

    async def read_to_end(self, agent: Agent, seconds: float) -> bool:
        """Take in what was added to the agent's record, for so long; False if some is left."""
        until = self._dependencies.clock.monotonic() + seconds
        while await self.read_once(agent):
            if self._dependencies.clock.monotonic() > until:
                return False
        return True

    async def _fetch(self, agents: Iterable[Agent]) -> list[_Fetched]:
        """Read the records of these agents, off the loop: one that hangs holds up no other."""
        tails = [
            (agent, tail)
            for agent in agents
            if (tail := agent.session_state.reading.tail) is not None
        ]
        answers = await self._dependencies.slow.each({tail: tail.fetch for _, tail in tails})
        return [_Fetched(agent, tail, answers[tail]) for agent, tail in tails]

    def _take_in(self, fetched: _Fetched) -> bool:
        agent, tail, answer = fetched.agent, fetched.tail, fetched.answer
        if tail is not agent.session_state.reading.tail:
            return False  # another session sits there by now
        if isinstance(answer, NoAnswer):
            agent.session_state.reading.unreadable = (
                f"does not answer: its file system hangs ({tail.path.parent})"
            )
            return False
        if isinstance(answer, Exception):
            raise answer
        restarts, compactions = tail.restarts, agent.session_state.reading.meter.compactions
        events = tail.take(answer)
        agent.session_state.reading.unreadable = tail.unreadable
        if tail.restarts != restarts:
            agent.begin_transcript(tail)
        if tail.behind:
            self._wake.set()  # the next piece, after everybody else's
        if events:
            self._take_events(agent, events, compactions)
        if isinstance(answer, Fetched) and tail.offset and not tail.behind:
            agent.session_state.caught_up()
        return bool(events)

    def _take_events(
        self, agent: Agent, events: Sequence[SessionEvent | Skipped], compactions: int
    ) -> None:
        now = self._dependencies.clock.steady()
        agent.read(events, now, self._ahead(agent))
        self._drop_taken_prompt(agent)
        if (
            agent.session_state.reading.meter.compactions > compactions
            and not agent.session_state.catching_up
        ):
            self._compacted(agent)

    def _drop_taken_prompt(self, agent: Agent) -> None:
        """Remove what the CLI has read: its record keeps it. Say so where it replied without it."""
        session_state = agent.session_state
        if agent.record.run and (taken := session_state.prompt_files_taken):
            self._dependencies.prompts.taken(agent.record.run, taken)
            taken.clear()
        if session_state.replied and session_state.prompt_files_named:
            session_state.prompt_files_named.clear()
            if not session_state.catching_up:
                self._tell_unread_prompt(agent)

    def _tell_unread_prompt(self, agent: Agent) -> None:
        words = (
            "its CLI did not read its first prompt: a permission rule may deny Read for "
            f"{self._dependencies.places.prompts}. Allow that folder, or send the prompt yourself: "
            f"cockpit send {agent.name}"
        )
        self._dependencies.store.save_agent(agent.change(note=words))
        self._dependencies.event_log.record(
            "agent.prompt_not_read", f"{agent.name}: {words}", agent.name
        )

    # The CLI's own notes, and the silence of a session that does not start

    async def note(self) -> None:
        """Look at the notes of living processes, for ever."""
        while True:
            living = {
                ("presence", agent.name): agent
                for agent in self._agents()
                if agent.alive and agent.process is not None
            }
            notes = await self._dependencies.slow.each(
                {key: self._presence_of(agent) for key, agent in living.items()}
            )
            for key, agent in living.items():
                if agent.alive:
                    await self._safely(agent, self._note(agent, notes[key]))
            await self._dependencies.clock.sleep(NOTES)

    def _presence_of(self, agent: Agent) -> Callable[[], Presence | None]:
        assert agent.process is not None
        return partial(agent.runtime.presence, agent.process.pid, self._sessions.environment(agent))

    async def _note(self, agent: Agent, presence: Presence | Exception | None) -> None:
        if isinstance(presence, NoAnswer):
            presence = None
        elif isinstance(presence, Exception):
            raise presence
        state = agent.session_state
        before = state.conduct.turn, agent.troubles.dialog, state.background
        if presence is not None and presence.session_id in {None, agent.record.session}:
            turn = _TURNS[presence.activity]
            at = self._dated(agent, presence.updated)
            stood = self._dependencies.clock.steady() - at
            conduct, shells = agent.session_state.conduct, presence.shells
            conduct.noted(turn, presence.waiting_for, at, stood=stood, shells=shells)
            self._settle_background(agent)
        if not agent.session_state.quiet_since_start:
            agent.troubles.dialog = None
        elif agent.runtime.has_readings:
            await self._look_at_silence(agent)
        if before != (
            agent.session_state.conduct.turn,
            agent.troubles.dialog,
            agent.session_state.background,
        ):
            await self._consider(agent)

    async def _look_at_silence(self, agent: Agent) -> None:
        """A session that says nothing may show a dialog, which no hook tells of.

        At once where the CLI notes that one is open: before anything was said it is no tool's.
        """
        began, asks = agent.session_state.began_at, agent.session_state.conduct.turn is Turn.DIALOG
        early = began is not None and self._dependencies.clock.monotonic() - began < SILENT_START
        if (early and not asks) or agent.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._dependencies.panes.capture(agent.record.pane)
            agent.troubles.dialog = agent.runtime.first_dialog(screen)

    async def _safely(self, agent: Agent, work: Awaitable[None]) -> None:
        """One agent's trouble is told on its row and in the log; the others are watched on."""
        try:
            await work
            if agent.troubles.watching is not None:
                agent.troubles.watching = None
        except CockpitError as refused:
            agent.troubles.watching = str(refused)
        except Exception as bug:  # noqa: BLE001 - the one place around one agent's watching
            _log.exception("watching %s failed", agent.name)
            agent.troubles.watching = f"watching it failed: {bug!r}; see the log"

    def _dated(self, agent: Agent, stamp: float | None) -> float:
        """A time that somebody else wrote down by the wall clock, in steady seconds; or now."""
        now = self._dependencies.clock.steady()
        return now if stamp is None else min(now, stamp + self._ahead(agent))

    def _ahead(self, agent: Agent) -> float:
        """By how much steady time is ahead of the wall clock; a jump changes it."""
        agent.ahead = self._dependencies.clock.steady() - self._dependencies.clock.now().timestamp()
        return agent.ahead

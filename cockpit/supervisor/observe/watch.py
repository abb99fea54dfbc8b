"""Watch all agents: hook reports, transcripts, and the CLIs' status files.

Hook reports arrive in a watched folder. Transcripts are checked 25 times a second while any
agent is working, else twice a second. An error with one agent does not affect the others. Makes
no decisions: calls `consider` for each agent that changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cockpit.adapters.transcripts.tail import Fetched, Tail, Unreadable
from cockpit.core.capabilities import Source
from cockpit.core.errors import CockpitError
from cockpit.core.events import Plain
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import is_revocable
from cockpit.core.ids import SESSION_PATTERN, SessionId
from cockpit.core.moments import CompactionBegins, DialogOpened, SessionBegan, TurnOver
from cockpit.core.session import SessionEvent, Skipped
from cockpit.ports.runtimes import Activity, Presence, Report, Signal
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents import background_work
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import dialog_without_secrets, redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.titles import SeenTitles
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.session_changes import SessionChanges

HOT = 0.04
"""Seconds between two checks of the transcripts while any agent is working or starting."""
CALM = 0.5
"""Seconds between two checks of the transcripts while no agent is working."""
NOTES = 1.0
"""Seconds between two checks of the CLIs' status files."""
SILENT_TURN = 5.0
"""Seconds without a report from a working agent, after which its pane is read: a CLI may wait for
its user without running a hook."""
SILENT_START = 6.0
"""Seconds without a report from a new session, after which its pane is read for a dialog."""

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
    """The new part of an agent's transcript, or the error of reading it."""

    agent: Agent
    tail: Tail
    answer: Fetched | Unreadable | Exception | None


class Watch:
    """Watches all agents, and calls `consider` for each that changed."""

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
        self._changes = SessionChanges(dependencies, sessions)
        self._agents = agents
        self._take = take
        self._consider = consider
        self._compacted = compacted
        self.compacts: Callable[[Agent], object] = lambda _: None
        """Called when a CLI waits before a compaction."""
        self._titles = SeenTitles()
        self._wake = asyncio.Event()
        self._reports = asyncio.Event()

    # Reports of hooks and status lines

    def reported(self) -> None:
        """Wake `hear`, because hook reports have arrived."""
        self._reports.set()

    async def hear(self) -> None:
        """Process reports as they arrive, until cancelled."""
        while True:
            await self._reports.wait()
            self._reports.clear()
            for agent in self.hear_once():
                await self._safely(agent, "state", self._consider(agent))

    async def consider(self, agent: Agent) -> None:
        """Check an agent that has not changed, as after a report."""
        await self._safely(agent, "state", self._consider(agent))

    def hear_once(self) -> list[Agent]:
        """Process all waiting reports. Return the agents that sent them."""
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
        """Process a report; an error is shown on the screen, and the next report is processed."""
        try:
            touched = self._hear(agent, signal)
            agent.troubles.failed.pop("hooks", None)
            return touched
        except CockpitError as refused:
            agent.troubles.failed["hooks"] = str(refused)
        except Exception as bug:  # noqa: BLE001 - the reports of other agents wait behind this one
            self._show_bug(agent, "hooks", bug)
        return True

    def _hear(self, agent: Agent, signal: Signal) -> bool:
        """Process a report. Return False if it is not about the agent's session."""
        if not self._is_of_session(agent, signal):
            return False
        agent.troubles.dialog = None
        agent.session_state.quiet_since_start = False
        at = self._dated(agent, signal.at)
        report = agent.runtime.report(signal)
        if report is not None:
            self._take_report(agent, report, at)
            return True
        self._take_transcript(agent, signal)
        if not signal.subagent:
            agent.session_state.last_activity = max(at, agent.session_state.last_activity or 0.0)
            agent.session_state.see_mode(agent.runtime.permission_mode(signal))
        moments = agent.runtime.moments(signal)
        for moment in moments:
            if isinstance(moment, DialogOpened):
                moment = dialog_without_secrets(
                    moment, redactor_of(self._dependencies.environment, agent)
                )
            agent.session_state.hear(moment, at)
        if any(isinstance(moment, CompactionBegins) for moment in moments):
            self.compacts(agent)
        if any(isinstance(moment, TurnOver) for moment in moments):
            self._update_background(agent)
        return True

    def _update_background(self, agent: Agent) -> None:
        background_work.update(agent, lambda: redactor_of(self._dependencies.environment, agent))

    def _take_transcript(self, agent: Agent, signal: Signal) -> None:
        """Follow the transcript that a hook reports, if its path was unknown at the start."""
        path, theirs = signal.payload.get("transcript_path"), signal.session_id
        if agent.session is None or agent.session.transcript or theirs is None:
            return
        if theirs == agent.cli_session and isinstance(path, str):
            found = agent.runtime.reported_transcript(path, theirs)
            if found is not None:
                self._changes.follow_transcript(agent, found)

    def _take_report(self, agent: Agent, report: Report, at: float) -> None:
        if report.transcript is not None:
            self._changes.follow_transcript(agent, report.transcript)
        agent.session_state.report(report, at)

    def _is_of_session(self, agent: Agent, signal: Signal) -> bool:
        """Return whether the report is about the agent's session.

        If the user began or opened another session in the agent's process, follows that session
        first.
        """
        ours, theirs = agent.cli_session, signal.session_id
        if agent.record.session is None:
            return False
        if theirs is not None and not SESSION_PATTERN.fullmatch(theirs):
            return False
        if ours is None:
            return self._is_found(agent, signal)
        if theirs is None or theirs == ours:
            return True
        if not agent.alive or not (agent.handoff is None or is_revocable(agent.handoff)):
            return False
        began = [
            moment
            for moment in agent.runtime.moments(signal)
            if isinstance(moment, SessionBegan) and moment.source in {"clear", "resume", "fork"}
        ]
        if not began:
            return False
        path, transcript = signal.payload.get("transcript_path"), None
        if isinstance(path, str):
            transcript = agent.runtime.reported_transcript(path, theirs)
            if transcript is None:
                return False
        self._changes.follow_new_session(agent, SessionId(theirs), transcript, began[0].source)
        return True

    def _is_found(self, agent: Agent, signal: Signal) -> bool:
        """Return whether the report is the first with the session's id; if so, save the id.

        Used while the id that the CLI chose is unknown. False for a late report of an earlier
        session of the job.
        """
        theirs = signal.session_id
        if theirs is None or any(theirs in (one.id, one.cli_id) for one in agent.chain):
            return False
        if not any(isinstance(each, SessionBegan) for each in agent.runtime.moments(signal)):
            return False
        path = signal.payload.get("transcript_path")
        transcript = (
            agent.runtime.reported_transcript(path, theirs) if isinstance(path, str) else None
        )
        self._changes.found_session(agent, SessionId(theirs), transcript)
        return True

    # Transcripts

    async def read(self) -> None:
        """Follow the transcripts of all agents, until cancelled."""
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
                await self._safely(fetched.agent, "transcript", self._apply_and_consider(fetched))
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HOT if hot else CALM):
                    await self._wake.wait()

    def _starting(self, agent: Agent) -> bool:
        return not agent.session_state.replied

    async def _apply_and_consider(self, fetched: _Fetched) -> None:
        session_state = fetched.agent.session_state
        before = session_state.reading.unreadable
        if self._apply(fetched) or session_state.reading.unreadable != before:
            await self._consider(fetched.agent)

    async def read_once(self, agent: Agent) -> bool:
        """Process the next part of the agent's transcript; return False if there was none."""
        fetched = await self._fetch([agent])
        if not fetched:
            return False
        return self._apply(fetched[0]) or bool(fetched[0].tail.behind)

    async def read_to_end(self, agent: Agent, seconds: float) -> bool:
        """Process the rest of the agent's transcript; return False if `seconds` were not enough."""
        until = self._dependencies.clock.monotonic() + seconds
        while await self.read_once(agent):
            if self._dependencies.clock.monotonic() > until:
                return False
        return True

    async def read_until_quiet(self, agent: Agent, quiet: float, seconds: float) -> None:
        """Process the agent's transcript until it has not grown for `quiet` seconds.

        Takes at most about `seconds`. The CLI writes its last reply later than it calls its hooks.
        Raises nothing; an error is recorded.
        """
        await self._safely(agent, "transcript", self._read_until_quiet(agent, quiet, seconds))

    async def _read_until_quiet(self, agent: Agent, quiet: float, seconds: float) -> None:
        clock = self._dependencies.clock
        now = grown = clock.monotonic()
        end = now + seconds
        while now < min(end, grown + quiet):
            if await self.read_once(agent):
                grown = clock.monotonic()
            else:
                await clock.sleep(HOT)
            now = clock.monotonic()

    async def _fetch(self, agents: Iterable[Agent]) -> list[_Fetched]:
        """Read transcripts on threads: a file system that hangs must not block other agents."""
        tails = [
            (agent, tail)
            for agent in agents
            if (tail := agent.session_state.reading.tail) is not None
        ]
        answers = await self._dependencies.slow.each({tail: tail.fetch for _, tail in tails})
        return [_Fetched(agent, tail, answers[tail]) for agent, tail in tails]

    def _apply(self, fetched: _Fetched) -> bool:
        agent, tail, answer = fetched.agent, fetched.tail, fetched.answer
        if tail is not agent.session_state.reading.tail:
            return False  # another session began
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
            self._wake.set()  # read the next part after the parts of other agents
        if events:
            self._take_events(agent, events, compactions)
        if isinstance(answer, Fetched) and tail.offset and not tail.behind:
            agent.session_state.caught_up()
        return bool(events)

    def _take_events(
        self, agent: Agent, events: Sequence[SessionEvent | Skipped], compactions: int
    ) -> None:
        now = self._dependencies.clock.steady()
        agent.read(events, now, self._clock_offset(agent))
        self._drop_taken_prompt(agent)
        if (
            agent.session_state.reading.meter.compactions > compactions
            and not agent.session_state.catching_up
        ):
            self._compacted(agent)

    def _drop_taken_prompt(self, agent: Agent) -> None:
        """Remove prompt files that the CLI has read, and report a file that it did not read."""
        session_state = agent.session_state
        if agent.record.run and (taken := session_state.prompt_files_taken):
            self._dependencies.prompts.taken(agent.record.run, taken)
            taken.clear()
        if session_state.replied and session_state.prompt_files_named:
            session_state.prompt_files_named.clear()
            if not session_state.catching_up:
                self._record_unread_prompt(agent)

    def _record_unread_prompt(self, agent: Agent) -> None:
        text = (
            "the CLI did not read the first prompt: a permission rule may deny Read for "
            f"{self._dependencies.places.prompts}. Allow that folder, or send the prompt yourself: "
            f"cockpit send {agent.name}"
        )
        self._dependencies.store.save_agent(agent.change(note=text))
        self._dependencies.event_log.record(
            Plain("agent.prompt_not_read"), f"{agent.name}: {text}", agent.name
        )

    # Status files, and sessions that do not start

    async def note(self) -> None:
        """Read the CLIs' status files of running processes, until cancelled."""
        while True:
            living = {
                ("presence", agent.name): agent
                for agent in self._agents()
                if agent.alive and agent.process is not None
            }
            notes = await self._dependencies.slow.each(
                {key: self._presence_reader(agent) for key, agent in living.items()}
            )
            titled = await self._titled(living.values())
            for key, agent in living.items():
                if agent.alive:
                    note = titled.get(agent.name, notes[key])
                    await self._safely(agent, "status file", self._note(agent, note))
                    await self._safely(agent, "transcript's path", self._find_transcript(agent))
            await self._dependencies.clock.sleep(NOTES)

    async def _titled(self, living: Iterable[Agent]) -> dict[str, Presence]:
        """Map each agent to the status in its pane's title, for CLIs that write no status file.

        One command reads all titles.
        """
        telling = [
            agent
            for agent in living
            if Source.TITLE in agent.runtime.capabilities.activity and agent.record.pane
        ]
        if not telling:
            return {}
        try:
            panes = await self._dependencies.panes.look()
        except CockpitError:
            return {}
        now = self._dependencies.clock.now().timestamp()
        found: dict[str, Presence] = {}
        for agent in telling:
            pane = panes.get(agent.record.pane) if agent.record.pane else None
            presence = agent.runtime.presence_in(pane.title) if pane else None
            if pane is None or presence is None:
                continue
            key = agent.name, agent.record.session
            found[agent.name] = self._titles.date(key, pane.title, presence, now)
        return found

    async def _find_transcript(self, agent: Agent) -> None:
        """Find the transcript of a CLI that chooses the file's name, if no hook reported it."""
        session = agent.session
        if session is None or session.transcript or not agent.has_readings:
            return
        if agent.runtime.capabilities.chooses_ids and session.cli_id is None:
            return
        order = self._sessions.order(agent, session, None)
        find = partial(agent.runtime.transcript, order)
        with contextlib.suppress(NoAnswer):
            found = await self._dependencies.slow.ask(("record", agent.name), find)
            if found is not None and agent.session is session:
                self._changes.follow_transcript(agent, found)

    def _presence_reader(self, agent: Agent) -> Callable[[], Presence | None]:
        assert agent.process is not None
        return partial(agent.runtime.presence, agent.process.pid, self._sessions.environment(agent))

    async def _note(self, agent: Agent, presence: Presence | Exception | None) -> None:
        if isinstance(presence, NoAnswer):
            presence = None
        elif isinstance(presence, Exception):
            raise presence
        state = agent.session_state
        before = state.conduct.turn, agent.troubles.dialog, state.background
        if presence is not None and presence.session_id in {None, agent.cli_session}:
            turn = _TURNS[presence.activity]
            at = self._dated(agent, presence.updated)
            stood = self._dependencies.clock.steady() - at
            conduct, shells = agent.session_state.conduct, presence.shells
            conduct.noted(turn, presence.waiting_for, at, stood=stood, shells=shells)
            self._update_background(agent)
        if not agent.session_state.quiet_since_start:
            agent.troubles.dialog = None
        elif agent.has_readings:
            await self._check_silent_session(agent)
        if Source.SCREEN in agent.runtime.capabilities.activity:
            await self._check_silent_turn(agent)
        if before != (
            agent.session_state.conduct.turn,
            agent.troubles.dialog,
            agent.session_state.background,
        ):
            await self._consider(agent)

    async def _check_silent_session(self, agent: Agent) -> None:
        """Look for an open dialog in the pane of a new session that sent no reports.

        No hook reports dialogs. Waits `SILENT_START` seconds, unless the CLI's status file shows an
        open dialog.
        """
        began, asks = agent.session_state.began_at, agent.session_state.conduct.turn is Turn.DIALOG
        early = began is not None and self._dependencies.clock.monotonic() - began < SILENT_START
        if (early and not asks) or agent.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._dependencies.panes.capture(agent.record.pane)
            agent.troubles.dialog = agent.runtime.first_dialog(screen)

    async def _check_silent_turn(self, agent: Agent) -> None:
        """Read the pane of a working agent that sends no reports, for events shown only there."""
        state, now = agent.session_state, self._dependencies.clock.steady()
        heard = max(state.last_activity or 0.0, state.conduct.last_moment)
        working = state.conduct.turn is Turn.WORKING
        if not working or now - heard < SILENT_TURN or agent.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._dependencies.panes.capture(agent.record.pane)
            for moment in agent.runtime.told_on(screen):
                state.hear(moment, now)

    async def _safely(self, agent: Agent, part: str, work: Awaitable[None]) -> None:
        """Await the work; an error is shown on the screen, and a bug is logged too."""
        try:
            await work
            agent.troubles.failed.pop(part, None)
        except CockpitError as refused:
            agent.troubles.failed[part] = str(refused)
        except Exception as bug:  # noqa: BLE001 - the one place around one agent's watching
            self._show_bug(agent, part, bug)

    def _show_bug(self, agent: Agent, part: str, bug: Exception) -> None:
        trouble = f"watching the agent's {part} failed: {bug!r}; see the log"
        if (
            agent.troubles.failed.get(part) != trouble
        ):  # logging this each second would fill the log
            _log.error("watching the %s of %s failed", part, agent.name, exc_info=bug)
            agent.troubles.failed[part] = trouble

    def _dated(self, agent: Agent, stamp: float | None) -> float:
        """Convert a wall clock time to seconds of `Clock.steady`, at most now; None gives now."""
        now = self._dependencies.clock.steady()
        return now if stamp is None else min(now, stamp + self._clock_offset(agent))

    def _clock_offset(self, agent: Agent) -> float:
        """Return `Clock.steady` minus the wall clock, in seconds.

        Differs after the clock was set.
        """
        agent.clock_offset = (
            self._dependencies.clock.steady() - self._dependencies.clock.now().timestamp()
        )
        return agent.clock_offset

"""Process the reports of hooks and status lines, which arrive in a watched folder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from cockpit.core.cli_events import CompactionBegins, DialogOpened, SessionBegan, TurnOver
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.states import is_revocable
from cockpit.core.ids import SESSION_PATTERN, SessionId
from cockpit.ports.runtimes import Report, Signal
from cockpit.supervisor.agents import background_work
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import dialog_without_secrets, redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.agent_clock import dated
from cockpit.supervisor.observe.agent_errors import safely, show_bug
from cockpit.supervisor.sessions.session_changes import SessionChanges


class HookReports:
    """Processes reports; calls `consider` for each agent that reported something."""

    def __init__(
        self,
        dependencies: Dependencies,
        changes: SessionChanges,
        agents: Callable[[], Iterable[Agent]],
        take: Callable[[], list[Signal]],
        consider: Callable[[Agent], Awaitable[None]],
        *,
        wake: Callable[[], None],
        compacts: Callable[[Agent], object],
    ) -> None:
        """`take` returns the reports that have arrived. `wake` is called after reports were
        processed, and `compacts` when a CLI waits before a compaction.
        """
        self._dependencies = dependencies
        self._changes = changes
        self._agents = agents
        self._take = take
        self._consider = consider
        self._wake = wake
        self._compacts = compacts
        self._reports = asyncio.Event()

    def reported(self) -> None:
        """Wake `follow`, because reports have arrived."""
        self._reports.set()

    async def follow(self) -> None:
        """Process reports as they arrive, until cancelled."""
        while True:
            await self._reports.wait()
            self._reports.clear()
            for agent in self.process_once():
                await safely(agent, "state", self._consider(agent))

    def process_once(self) -> list[Agent]:
        """Process all waiting reports. Return the agents whose sessions the reports are about."""
        by_name = {agent.name: agent for agent in self._agents()}
        touched: dict[str, Agent] = {}
        for signal in self._take():
            agent = by_name.get(signal.agent)
            if agent is not None and self._process_safely(agent, signal):
                touched[agent.name] = agent
        if touched:
            self._wake()
        return list(touched.values())

    def _process_safely(self, agent: Agent, signal: Signal) -> bool:
        """Process a report; an error is shown on the screen, and the next report is processed."""
        try:
            touched = self._process(agent, signal)
            agent.troubles.succeed("hooks")
            return touched
        except CockpitError as refused:
            agent.troubles.fail("hooks", str(refused))
        except Exception as bug:  # noqa: BLE001 - the reports of other agents wait behind this one
            show_bug(agent, "hooks", bug)
        return True

    def _process(self, agent: Agent, signal: Signal) -> bool:
        """Process a report. Return False if it is not about the agent's session."""
        if not self._is_of_session(agent, signal):
            return False
        at = dated(self._dependencies.clock, agent, signal.at)
        report = agent.runtime.report(signal)
        if report is not None:
            _end_silence(agent)
            self._take_report(agent, report, at)
            return True
        self._take_transcript(agent, signal)
        events = agent.runtime.cli_events(signal)
        if not signal.subagent:
            agent.session_state.see_mode(agent.runtime.permission_mode(signal))
        if events and not signal.subagent:
            # Other reports are not activity: Claude Code reports a prompt that was idle for 60 s.
            agent.session_state.last_activity = max(at, agent.session_state.last_activity or 0.0)
        if any(isinstance(event, SessionBegan) for event in events):
            # Gemini reports the session's start while its trust dialog is still open.
            agent.session_state.has_begun = True
        else:
            _end_silence(agent)
        for event in events:
            if isinstance(event, DialogOpened):
                event = dialog_without_secrets(
                    event, redactor_of(self._dependencies.environment, agent)
                )
            agent.session_state.apply(event, at)
        if any(isinstance(event, CompactionBegins) for event in events):
            self._compacts(agent)
        if any(isinstance(event, TurnOver) for event in events):
            background_work.update(
                agent, lambda: redactor_of(self._dependencies.environment, agent)
            )
        return True

    def _take_transcript(self, agent: Agent, signal: Signal) -> None:
        """Follow the transcript that a hook reports, if its path was unknown at the start."""
        path, theirs = signal.payload.get("transcript_path"), signal.session_id
        if agent.session is None or agent.session.transcript or theirs is None:
            return
        if theirs == agent.cli_session and isinstance(path, str):
            transcript = agent.runtime.reported_transcript(path, theirs)
            if transcript is not None:
                self._changes.follow_transcript(agent, transcript)

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
            event
            for event in agent.runtime.cli_events(signal)
            if isinstance(event, SessionBegan) and event.source in {"clear", "resume", "fork"}
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
        """Return whether the report is of a session start with a new id; if so, save the id.

        Used while the id that the CLI chose is unknown. False for a late report of an earlier
        session of the job.
        """
        theirs = signal.session_id
        if theirs is None or any(theirs in (known.id, known.cli_id) for known in agent.chain):
            return False
        events = agent.runtime.cli_events(signal)
        if not any(isinstance(event, SessionBegan) for event in events):
            return False
        path = signal.payload.get("transcript_path")
        transcript = (
            agent.runtime.reported_transcript(path, theirs) if isinstance(path, str) else None
        )
        self._changes.found_session(agent, SessionId(theirs), transcript)
        return True


def _end_silence(agent: Agent) -> None:
    """Note that the session has begun to work, so no trust or login dialog is open. Idempotent."""
    agent.troubles.dialog = None
    agent.session_state.quiet_since_start = False

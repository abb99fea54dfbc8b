"""Read the state of CLIs from their status files, their panes' titles and their screens.

These sources show changes that a CLI reports neither by a hook nor in its transcript.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial

from cockpit.core.capabilities import Source
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Turn
from cockpit.core.ids import AgentName
from cockpit.ports.runtimes import Activity, Presence
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents import background_work
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.agent_clock import dated
from cockpit.supervisor.observe.agent_errors import safely
from cockpit.supervisor.observe.titles import SeenTitles
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.session_changes import SessionChanges

NOTES = 1.0
"""Seconds between two checks of the CLIs' status files."""
SILENT_TURN = 5.0
"""Seconds without a report from a working agent, after which its pane is read: a CLI may wait for
its user without running a hook."""
SILENT_START = 6.0
"""Seconds after which the pane of a new session without a report is read for a dialog."""

_TURNS = {
    Activity.BUSY: Turn.WORKING,
    Activity.IDLE: Turn.IDLE,
    Activity.WAITING: Turn.DIALOG,
    Activity.UNKNOWN: Turn.UNKNOWN,
}


class StatusFiles:
    """Reads the state of running CLIs; calls `consider` for each agent whose state has changed."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: Sessions,
        changes: SessionChanges,
        agents: Callable[[], Iterable[Agent]],
        consider: Callable[[Agent], Awaitable[None]],
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._changes = changes
        self._agents = agents
        self._consider = consider
        self._titles = SeenTitles()
        self._next_look: dict[AgentName, float] = {}
        """For each agent without a known session, when to look for the session again."""

    async def follow(self) -> None:
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
                    await safely(agent, "status file", self._note(agent, note))
                    await safely(agent, "session's id", self._find_session(agent))
                    await safely(agent, "transcript's path", self._find_transcript(agent))
            await self._dependencies.clock.sleep(NOTES)

    async def _titled(self, living: Iterable[Agent]) -> dict[str, Presence]:
        """Return the status in each agent's pane title, by the agent's name.

        Only for CLIs that show their status in the title. One command reads all titles.
        """
        with_title = [
            agent
            for agent in living
            if Source.TITLE in agent.runtime.capabilities.activity and agent.record.pane
        ]
        if not with_title:
            return {}
        try:
            panes = await self._dependencies.panes.look()
        except CockpitError:
            return {}
        now = self._dependencies.clock.now().timestamp()
        presences: dict[str, Presence] = {}
        for agent in with_title:
            pane = panes.get(agent.record.pane) if agent.record.pane else None
            presence = agent.runtime.presence_in(pane.title) if pane else None
            if pane is None or presence is None:
                continue
            key = agent.name, agent.record.session
            presences[agent.name] = self._titles.date(key, pane.title, presence, now)
        return presences

    async def _find_session(self, agent: Agent) -> None:
        """Find the session of a CLI that chooses session ids, if no hook reported the id."""
        session, process = agent.session, agent.process
        if session is None or process is None or session.cli_id is not None:
            return
        began = agent.session_state.began_at
        if not agent.runtime.capabilities.chooses_ids or not agent.has_readings or began is None:
            return
        now = self._dependencies.clock.monotonic()
        if now < max(began + SILENT_START, self._next_look.get(agent.name, 0.0)):
            return
        self._next_look[agent.name] = now + SILENT_START
        environment = self._sessions.orders.environment(agent)
        find = partial(agent.runtime.open_session, process.pid, environment)
        with contextlib.suppress(NoAnswer):
            ident = await self._dependencies.slow.ask(("session", agent.name), find)
            known = any(ident in (earlier.id, earlier.cli_id) for earlier in agent.chain)
            if ident is None or known or agent.session is not session:
                return
            named = replace(session, cli_id=ident)
            locate = partial(agent.runtime.transcript, self._sessions.orders.of(agent, named, None))
            path = await self._dependencies.slow.ask(("record", agent.name), locate)
            if path is not None and agent.session is session and session.cli_id is None:
                self._changes.found_session(agent, ident, path)

    async def _find_transcript(self, agent: Agent) -> None:
        """Find the transcript, if the CLI chooses the file's name and no hook reported its path."""
        session = agent.session
        if session is None or session.transcript or not agent.has_readings:
            return
        if agent.runtime.capabilities.chooses_ids and session.cli_id is None:
            return
        order = self._sessions.orders.of(agent, session, None)
        find = partial(agent.runtime.transcript, order)
        with contextlib.suppress(NoAnswer):
            transcript = await self._dependencies.slow.ask(("record", agent.name), find)
            if transcript is not None and agent.session is session:
                self._changes.follow_transcript(agent, transcript)

    def _presence_reader(self, agent: Agent) -> Callable[[], Presence | None]:
        assert agent.process is not None
        return partial(
            agent.runtime.presence, agent.process.pid, self._sessions.orders.environment(agent)
        )

    async def _note(self, agent: Agent, presence: Presence | Exception | None) -> None:
        if isinstance(presence, NoAnswer):
            presence = None
        elif isinstance(presence, Exception):
            raise presence
        state = agent.session_state
        before = state.activity.turn, agent.troubles.dialog, state.background
        if presence is not None and presence.session_id in {None, agent.cli_session}:
            turn = _TURNS[presence.activity]
            at = dated(self._dependencies.clock, agent, presence.updated)
            unchanged = self._dependencies.clock.steady() - at
            activity, shells = agent.session_state.activity, presence.shells
            activity.apply_status_file(
                turn, presence.waiting_for, at, unchanged=unchanged, shells=shells
            )
            background_work.update(
                agent, lambda: redactor_of(self._dependencies.environment, agent)
            )
        if not agent.session_state.quiet_since_start:
            agent.troubles.dialog = None
        elif agent.has_readings:
            await self._check_silent_session(agent)
        if Source.SCREEN in agent.runtime.capabilities.activity:
            await self._check_silent_turn(agent)
        if before != (
            agent.session_state.activity.turn,
            agent.troubles.dialog,
            agent.session_state.background,
        ):
            await self._consider(agent)

    async def _check_silent_session(self, agent: Agent) -> None:
        """Look for an open dialog in the pane of a new session, until its prompt box is shown.

        No hook reports the dialogs that come before a session. Waits `SILENT_START` seconds, unless
        the CLI's status file shows an open dialog.
        """
        began, asks = agent.session_state.began_at, agent.session_state.activity.turn is Turn.DIALOG
        early = began is not None and self._dependencies.clock.monotonic() - began < SILENT_START
        if (early and not asks) or agent.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._dependencies.panes.capture(agent.record.pane)
            agent.troubles.dialog = agent.runtime.first_dialog(screen)
            if agent.session_state.has_begun and agent.runtime.composer(screen) is not None:
                agent.troubles.dialog = None
                agent.session_state.quiet_since_start = False

    async def _check_silent_turn(self, agent: Agent) -> None:
        """Read the pane of a working agent that sends no reports, for events that only the pane
        shows."""
        state, now = agent.session_state, self._dependencies.clock.steady()
        heard = max(state.last_activity or 0.0, state.activity.last_report_at)
        working = state.activity.turn is Turn.WORKING
        if not working or now - heard < SILENT_TURN or agent.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._dependencies.panes.capture(agent.record.pane)
            for event in agent.runtime.screen_events(screen):
                state.apply(event, now)

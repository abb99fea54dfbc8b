"""Adopt a session that cockpit did not start: end the process, reopen the session in a new agent.

All possible checks come before the process is asked to end. The process gets only SIGTERM, on which
the CLI saves its session; cockpit never kills the process. `adopt.py` adopts processes that cockpit
started.
"""

from __future__ import annotations

import contextlib
import shlex
from functools import partial

from cockpit.config.loaded import changed_agent
from cockpit.core.errors import CockpitError, Failed, NotNow
from cockpit.core.events import AgentAdopting
from cockpit.core.ids import AgentName, agent_name, suggested_name
from cockpit.core.permission import ASKS_FIRST, nearest, successors_mode
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.processes import ProcessId
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import PATIENCE
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.adoptable import (
    check_adoptable,
    shown_directory,
    start_command,
)
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.neighbours import Neighbours
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.transcript_end import last_permission_mode
from cockpit.wire.verbs import Adopt, Start

END_SECONDS = 15.0
"""Time limit in seconds for the end of the process after SIGTERM; CLIs usually need half a
second."""
READ_SECONDS = 5.0
MODE_SECONDS = 60.0
"""Maximum seconds to find the permission mode in a transcript, which can have some hundred MB."""


class Adoption:
    """Ends a session that cockpit did not start, and reopens it as an agent (`Adopt`)."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        starter: Starter,
        neighbours: Neighbours,
        others: OtherSessions,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._starter = starter
        self._neighbours = neighbours
        self._others = others

    async def adopt(self, asked: Adopt) -> Agent:
        """End the session's process, and reopen the session as a new agent.

        If a check fails, raises an error such as `NotNow`, and nothing is changed. Raises `Failed`
        if the process does not end, or if the session cannot be reopened afterwards. The error has
        the command to start the session later.
        """
        session = await self._others.find(asked.session, asked.pid)
        await self._others.refuse_inside(asked.asker, "adopt")
        with self._others.hold(session, "adopting"):
            name = self._name(asked.name, session)
            async with self._sessions.locks.hold(name, "being adopted", patience=PATIENCE):
                return await self._adopt(name, session)

    async def _adopt(self, name: AgentName, session: LiveSession) -> Agent:
        if self._fleet.find(name) is not None:
            raise NotNow(
                f"There is already an agent {name}", "", "Choose another name: --name NAME"
            )
        runtime = self._dependencies.runtimes(session.runtime)
        await self._check(session, runtime)
        agent = await self._agent(name, session, runtime)
        agent.start.under_way = True  # from here on, other starts see that the directory is in use
        try:
            await self._neighbours.check_free(agent)
            await self._check_environment(agent, session)
            await self._end(agent, session)
            await self._reopen(agent, session)
        except BaseException:
            if agent.record.session is None:
                self._fleet.forget(agent)
            raise
        finally:
            agent.start.under_way = False
        return agent

    # Checks

    async def _check(self, session: LiveSession, runtime: Runtime) -> None:
        """Raise if the session could not be reopened after its process has ended."""
        parts = self._dependencies
        await check_adoptable(parts, self._fleet, session)
        await self._sessions.probe(runtime, parts.environment)

    async def _check_environment(self, agent: Agent, session: LiveSession) -> None:
        """Raise if the agent's own environment makes it impossible to reopen the session."""
        check = self._dependencies.live_sessions.check_reopenable
        await self._dependencies.slow.ask(
            ("elsewhere", session.id), partial(check, session, agent.environment), READ_SECONDS
        )

    def _name(self, wanted: str | None, session: LiveSession) -> AgentName:
        if wanted is not None:
            return agent_name(wanted)
        return self._fleet.free_name(suggested_name(session.directory.name))

    async def _agent(self, name: AgentName, session: LiveSession, runtime: Runtime) -> Agent:
        """Create the agent in the session's directory.

        The permission mode that was observed in the session can only narrow the configured mode.
        """
        order = Start(
            name=name, directory=str(session.directory), runtime=session.runtime, mode="prompt"
        )
        settings, _ = self._starter.settings.combined(name, order, in_place=True)
        observed = await self._observed_mode(session, runtime)
        mode = successors_mode(settings.permission_mode, observed, runtime.modes)
        if mode != settings.permission_mode:
            settings = changed_agent(settings, permission_mode=mode)
        agent = self._fleet.take_up(settings, None)
        agent.environment = self._sessions.orders.environment(agent)
        return agent

    async def _observed_mode(self, session: LiveSession, runtime: Runtime) -> str:
        """Return the transcript's last permission mode; else a mode that asks for permission."""
        live = self._dependencies.live_sessions

        def read() -> str | None:
            path = live.transcript(session)
            with contextlib.suppress(OSError):
                return last_permission_mode(path, runtime) if path is not None else None
            return None

        recorded = await self._dependencies.slow.ask(("mode of", session.id), read, MODE_SECONDS)
        return recorded or nearest(runtime.modes, "default", ASKS_FIRST)

    # Steps

    async def _end(self, agent: Agent, session: LiveSession) -> None:
        """Ask exactly this process to end, and wait until it has ended.

        Raises `NotNow` if the process no longer has the session open, and `Failed` if it does not
        end.
        """
        parts = self._dependencies
        now = {(other.id, other.pid, other.started) for other in await self._others.look()}
        process = self._others.identify(session)
        if process is None or (session.id, session.pid, session.started) not in now:
            raise NotNow(
                f"Process {session.pid} no longer has session {session.id} open",
                "The process has just ended or opened another session.",
                f"List the sessions: cockpit status --elsewhere. Or: {start_command(session)}",
            )
        parts.event_log.record(
            AgentAdopting(session=session.id, pid=session.pid, directory=shown_directory(session)),
            f"{agent.name}: asking process {session.pid} to end, to reopen its session here. "
            f"To reopen it manually: {self._by_hand(session)}",
            agent.name,
        )
        terminal = parts.processes.terminal(process)
        try:
            if not await parts.processes.ask_to_end(process, END_SECONDS):
                raise self._still_runs(process, session)
            if terminal is not None:
                if not session.restores_screen:
                    terminal.leave_full_screen()
                terminal.write_line(
                    f"cockpit adopted this session as agent {agent.name}. "
                    f"To open it: cockpit attach {agent.name}"
                )
        finally:
            if terminal is not None:
                terminal.close()

    def _still_runs(self, process: ProcessId, session: LiveSession) -> Failed:
        return Failed(
            f"Process {process.pid} did not end",
            f"cockpit sent SIGTERM, and the process is still running after {END_SECONDS:.0f} s. "
            "cockpit does not kill the process, so the session stays open.",
            f"End the session in its terminal (/exit), then: {start_command(session)}",
        )

    async def _reopen(self, agent: Agent, session: LiveSession) -> None:
        try:
            await self._starter.start(agent, "", resume=session.id)
        except (CockpitError, OSError) as refused:
            why = str(refused) if isinstance(refused, CockpitError) else refused.strerror
            raise Failed(
                f"Process {session.pid} ended, but cockpit could not reopen its session",
                f"{why}\nThe session is complete in its transcript.",
                f"To reopen the session manually: {self._by_hand(session)}\n"
                f"Or as an agent: {start_command(session)}",
            ) from refused

    def _by_hand(self, session: LiveSession) -> str:
        command = self._dependencies.live_sessions.by_hand(session)
        return f"cd {shlex.quote(shown_directory(session))} && {shlex.join(command)}"

"""Restore the state that the previous supervisor left: agents, and handoffs in progress."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from dataclasses import replace

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import CockpitError, OsProblem
from cockpit.core.events import AgentExited, Plain
from cockpit.core.ids import AgentName, PaneId
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.damaged_rows import DamagedRows
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.open_handoffs import OpenHandoffs
from cockpit.supervisor.history.rebuild import rebuild
from cockpit.supervisor.observe.watch import Watch
from cockpit.supervisor.sessions.adopt import adopt, adopt_unknown, note_lost_settings
from cockpit.supervisor.sessions.interruptions import find_interrupted
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.reattach import find_process
from cockpit.supervisor.sessions.setup import WorktreeSetup

RESTORE_SECONDS = 10.0
"""Time limit in seconds for reading transcripts at the start; the rest is read later."""
ASKS, ASK_AGAIN = 4, 0.5
"""Attempts to list tmux's panes at the start, and seconds between two attempts."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """Restores the state of all agents once, before requests are served."""

    dependencies: Dependencies
    fleet: Fleet
    sessions: Sessions
    setup: WorktreeSetup
    watch: Watch
    dialogs: Dialogs
    open_handoffs: OpenHandoffs
    damaged_rows: DamagedRows

    async def restore(self) -> None:
        """Find each agent's process, read its transcript, and continue its handoff.

        The configuration must have been read. Raises `PanesSilent` if tmux does not answer, and
        the errors of the disk.
        """
        panes = {str(key): pane for key, pane in (await self._panes()).items()}
        unknown = adopt_unknown(self.dependencies, self.fleet, panes.values())
        await rebuild(self.dependencies, self.fleet.folders())
        handing_off = {record.agent for record in self.dependencies.store.open_handoffs()}
        for agent in self.fleet:
            with _isolated(agent):
                is_running = await find_process(self.dependencies, self.sessions, agent, panes)
                self.dialogs.recall(agent)
                handed_off = agent.name in handing_off
                missing = not is_running and (not handed_off or agent.record.session is None)
                if missing and adopt(self.dependencies, self.sessions, agent, panes.values()):
                    if agent in unknown:
                        note_lost_settings(self.dependencies, agent)
                    continue
                self._record_found(agent, is_running, handing_off=handed_off)
        self.watch.reports.process_once()
        clock = self.dependencies.clock
        until = clock.monotonic() + RESTORE_SECONDS
        for agent in self.fleet:
            with _isolated(agent):
                await self.watch.transcripts.read_to_end(agent, until - clock.monotonic())
        has_panes = any(self.fleet.find(pane.label) for pane in panes.values())
        find_interrupted(self.dependencies, self.fleet, panes=has_panes)
        self._drop_prompts(handing_off)
        self.open_handoffs.resume()
        self.damaged_rows.report()

    async def _panes(self) -> dict[PaneId, Pane]:
        """Return every pane of tmux.

        Raises the error of the last of `ASKS` attempts: `PanesSilent`, `OsProblem` or `OSError`.
        """
        panes = self.dependencies.panes
        for _ in range(ASKS - 1):
            with contextlib.suppress(PanesSilent, OsProblem, OSError):
                await panes.start_server()
                return await panes.look()
            await asyncio.sleep(ASK_AGAIN)
        await panes.start_server()
        return await panes.look()

    def _record_found(self, agent: Agent, is_running: bool, *, handing_off: bool) -> None:
        if is_running:
            self.dependencies.event_log.record(
                Plain("agent.found"), f"{agent.name} is still running", agent.name
            )
        elif agent.record.wanted and agent.record.session is not None:
            over = agent.session.ended if agent.session else None
            if not handing_off and agent.record.ending is None and over is None:
                self.sessions.record_exit(agent, None)
            now = self.dependencies.clock.now().timestamp()
            agent.exit = Exit(over or now, recorded=agent.record.ending)
            began = agent.session.created if agent.session else 0.0
            last_exit = self.dependencies.store.last_exit(agent.name, began)
            if last_exit is not None and isinstance(ended := last_exit.event, AgentExited):
                status, signal = ended.status, ended.signal
                agent.exit = replace(agent.exit, status=status, signal=signal)

    def _drop_prompts(self, handing_off: set[AgentName]) -> None:
        """Remove the stored prompts of ended sessions and of cancelled starts."""
        kept: set[str] = set()
        for agent in self.fleet:
            if agent.record.run and (agent.alive or agent.name in handing_off):
                kept.add(agent.record.run)
            if agent.record.job and self.setup.should_repeat(agent) is not None:
                kept.add(agent.record.job)
        self.dependencies.prompts.sweep(kept)


@contextlib.contextmanager
def _isolated(agent: Agent) -> Iterator[None]:
    """Show an error of one agent on the screen and in the log, and restore the other agents.

    Does not catch `CockpitError` and `OSError`: errors of the disk or of tmux affect all agents.
    """
    try:
        yield
    except (CockpitError, OSError):
        raise
    except Exception as bug:  # noqa: BLE001 - one agent must not stop the start
        _log.exception("restoring %s failed", agent.name)
        agent.troubles.fail("restore", f"restoring the agent failed: {bug!r}; see the log")

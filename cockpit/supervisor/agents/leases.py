"""File locks: one process per agent, and one agent per worktree.

The launcher takes the locks (`flock`) before it executes the agent, so the kernel resolves
conflicts. `Leases` checks the locks earlier, so that an error can name the holder, and ends
processes that an agent's ended session left running. Agents that work in the user's own checkout
share the lock of that checkout.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.process.leases import Holder, holder, worktree_lease
from cockpit.core.errors import NotNow
from cockpit.core.events import AgentStragglers
from cockpit.ports.panes import Claim, Launch
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies


class Leases:
    """The file locks of all agents."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    def with_leases(self, agent: Agent, launch: Launch) -> Launch:
        """Return the launch with the locks that the launcher takes before the agent starts."""
        return replace(launch, lease=self._lease(agent), claim=claim(agent))

    async def ensure_free(self, agent: Agent) -> None:
        """Make sure that the agent's locks are free; end processes left by an earlier session.

        Raises `NotNow`, with the holder's name, if a lock is still held. The agent must not be
        running.
        """
        await self._ensure_free(agent, self._lease(agent), shared=False)
        if (worktree := claim(agent)) is not None:
            await self._ensure_free(agent, worktree.path, shared=worktree.shared)

    async def check_not_owned(self, root: Path) -> None:
        """Raise `NotNow` if an agent of any cockpit holds the worktree's exclusive lock."""
        place = await asyncio.to_thread(worktree_lease, root)
        held = await asyncio.to_thread(holder, place, shared=True) if place is not None else None
        if held is not None:
            raise self._taken(root, held)

    async def _ensure_free(self, agent: Agent, lease: Path, *, shared: bool) -> None:
        held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is None:
            return
        run = self._run_of_ended_session(agent, held)
        if run is not None:
            ending = await self._dependencies.processes.end(None, run, patience=2.0)
            if ending.stragglers:
                self._dependencies.event_log.record(
                    AgentStragglers(stragglers=ending.stragglers),
                    f"{agent.name}: ended processes that an earlier session left running",
                    agent.name,
                )
            held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is not None:
            raise self._taken(agent.directory, held)

    def _run_of_ended_session(self, agent: Agent, held: Holder) -> str | None:
        """Return the `run` of a lock's holder if the holder's session has ended; else None.

        `run` identifies a session's processes. A holder without a `run` is treated as a process of
        this agent's session.
        """
        run = held.run or agent.record.run
        if run is None:
            return None
        owners = [record for record in self._dependencies.store.agents() if record.run == run]
        if any(record.name != agent.name and self._may_live(record) for record in owners):
            return None
        return run if owners or self._dependencies.store.has_run(run) else None

    def _may_live(self, record: AgentRecord) -> bool:
        """Return whether the agent is running or will soon be, according to its record."""
        if record.pid is None or record.started is None or record.boot is None:
            return record.wanted
        return self._dependencies.processes.alive(
            ProcessId(record.pid, record.started, record.boot)
        )

    def _taken(self, place: Path, held: Holder) -> NotNow:
        ours = held.run is not None and self._dependencies.store.has_run(held.run)
        by = f"process {held.pid} holds the lock" if held.pid else "the lock is taken"
        whose = "" if ours else " (started by another cockpit)"
        if held.keepers and held.pid not in held.keepers:
            pids = " ".join(map(str, held.keepers))
            owner = held.agent or "an ended session"
            return NotNow(
                f"Processes left by {owner} are still running in {place}",
                f"Processes that cockpit cannot end hold the worktree's lock: {pids}{whose}.",
                f"Inspect and end the processes, then try again: ps {pids}; kill -KILL {pids}",
            )
        stop = (
            f"Stop {held.agent}: cockpit stop {held.agent}"
            if held.agent
            else "End the other process"
        )
        return NotNow(
            f"{held.agent or 'Another process'} is already running in {place}",
            f"Only one agent can run in a worktree; {by}{whose}.",
            f"{stop}{'' if ours else ' (in the other cockpit)'}.",
        )

    def _lease(self, agent: Agent) -> Path:
        folder = self._dependencies.places.state / "leases"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{agent.name}.lock"


def claim(agent: Agent) -> Claim | None:
    """Return the lock of the agent's worktree; None outside a repository, where there is no lock.

    The lock is exclusive if cockpit created the worktree for this agent.
    """
    path = worktree_lease(agent.directory)
    return Claim(path, shared=agent.record.worktree is None) if path is not None else None

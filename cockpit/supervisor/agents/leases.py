"""One agent in an agent and one in a worktree: their locks, and our own stragglers who hold them.

The kernel has the last word, when the launcher takes the locks; what is looked up here makes an
early refusal with a name in it. Two agents in one plain directory are allowed, so they share.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.process.leases import Holder, holder, worktree_lease
from cockpit.core.errors import NotNow
from cockpit.ports.panes import Claim, Launch
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies


class Leases:
    """The locks of all agents."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    def leased(self, agent: Agent, launch: Launch) -> Launch:
        """The launch with the locks that its process takes before it becomes the agent."""
        return replace(launch, lease=self._lease(agent), claim=claim(agent))

    async def free(self, agent: Agent) -> None:
        """See that nobody holds what the agent's agent will need; our stragglers are ended for it.

        Raises `NotNow` with who holds it. For an agent whose own agent does not live.
        """
        await self._free(agent, self._lease(agent), shared=False)
        if (place := claim(agent)) is not None:
            await self._free(agent, place.path, shared=place.shared)

    async def free_of_owners(self, root: Path) -> None:
        """Raise `NotNow` where an agent of any cockpit has this worktree for itself now."""
        place = worktree_lease(root)
        held = await asyncio.to_thread(holder, place, shared=True) if place is not None else None
        if held is not None:
            raise self._taken(root, held)

    async def _free(self, agent: Agent, lease: Path, *, shared: bool) -> None:
        held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is None:
            return
        run = self._straggling(agent, held)
        if run is not None:
            ending = await self._dependencies.processes.end(None, run, patience=2.0)
            if ending.stragglers:
                self._dependencies.event_log.record(
                    "agent.stragglers",
                    f"{agent.name}: what an earlier session had left running was ended",
                    agent.name,
                    stragglers=list(ending.stragglers),
                )
            held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is not None:
            raise self._taken(agent.directory, held)

    def _straggling(self, agent: Agent, held: Holder) -> str | None:
        """The marker of a session of ours that is over, if it is that one's processes that hold it.

        A lock that does not say who took it is looked at as the agent's own.
        """
        run = held.run or agent.record.run
        if run is None:
            return None
        sitters = [one for one in self._dependencies.store.agents() if one.run == run]
        if any(one.name != agent.name and self._may_live(one) for one in sitters):
            return None
        return run if sitters or self._dependencies.store.has_run(run) else None

    def _may_live(self, record: AgentRecord) -> bool:
        """Whether an agent's agent lives or is about to, as far as its record tells."""
        if record.pid is None or record.started is None or record.boot is None:
            return record.wanted
        return self._dependencies.processes.alive(
            ProcessId(record.pid, record.started, record.boot)
        )

    def _taken(self, place: Path, held: Holder) -> NotNow:
        ours = held.run is not None and self._dependencies.store.has_run(held.run)
        who = held.agent or "Somebody"
        by = f"process {held.pid} took its lock" if held.pid else "its lock is taken"
        whose = "" if ours else ", for another cockpit than this one"
        if held.keepers and held.pid not in held.keepers:
            pids = " ".join(map(str, held.keepers))
            return NotNow(
                f"What {who} has left running works in {place}",
                f"It took the worktree's lock with it, and not its marker: {pids}{whose}.",
                f"See what it is, end it, and try again: ps {pids}; kill -KILL {pids}",
            )
        stop = f"cockpit stop {held.agent}" if held.agent else "end that process"
        return NotNow(
            f"{who} works in {place}",
            f"A worktree has one running agent; {by}{whose}.",
            f"Stop it first: {stop}{'' if ours else ' (of that cockpit)'}.",
        )

    def _lease(self, agent: Agent) -> Path:
        folder = self._dependencies.places.state / "leases"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{agent.name}.lock"


def claim(agent: Agent) -> Claim | None:
    """The lock of the worktree the agent works in; alone where it was made for this agent.

    None in a plain directory: nobody must be alone there.
    """
    path = worktree_lease(agent.directory)
    return Claim(path, shared=agent.record.worktree is None) if path is not None else None

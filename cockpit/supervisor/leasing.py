"""One agent in a seat and one in a worktree: their locks, and our own stragglers who hold them.

The kernel has the last word, when the launcher takes the locks; what is looked up here makes an
early refusal with a name in it. Two agents in one plain directory are allowed, so they share.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.leases import Holder, holder, worktree_lease
from cockpit.core.errors import NotNow
from cockpit.ports.panes import Claim, Launch
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import SeatRecord
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat


class Leasing:
    """The locks of all seats."""

    def __init__(self, instruments: Instruments) -> None:
        self._in = instruments

    def leased(self, seat: Seat, launch: Launch) -> Launch:
        """The launch with the locks that its process takes before it becomes the agent."""
        return replace(launch, lease=self._lease(seat), claim=claim(seat))

    async def free(self, seat: Seat) -> None:
        """See that nobody holds what the seat's agent will need; our stragglers are ended for it.

        Raises `NotNow` with who holds it. For a seat whose own agent does not live.
        """
        await self._free(seat, self._lease(seat), shared=False)
        if (place := claim(seat)) is not None:
            await self._free(seat, place.path, shared=place.shared)

    async def free_of_owners(self, root: Path) -> None:
        """Raise `NotNow` where an agent of any cockpit has this worktree for itself now."""
        place = worktree_lease(root)
        held = await asyncio.to_thread(holder, place, shared=True) if place is not None else None
        if held is not None:
            raise self._taken(root, held)

    async def _free(self, seat: Seat, lease: Path, *, shared: bool) -> None:
        held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is None:
            return
        run = self._straggling(seat, held)
        if run is not None:
            ending = await self._in.processes.end(None, run, patience=2.0)
            if ending.stragglers:
                self._in.feed.tell(
                    "agent.stragglers",
                    f"{seat.name}: what an earlier session had left running was ended",
                    seat.name,
                    stragglers=list(ending.stragglers),
                )
            held = await asyncio.to_thread(holder, lease, shared=shared)
        if held is not None:
            raise self._taken(seat.directory, held)

    def _straggling(self, seat: Seat, held: Holder) -> str | None:
        """The marker of a session of ours that is over, if it is that one's processes that hold it.

        A lock that does not say who took it is looked at as the seat's own.
        """
        run = held.run or seat.record.run
        if run is None:
            return None
        sitters = [one for one in self._in.store.seats() if one.run == run]
        if any(one.name != seat.name and self._may_live(one) for one in sitters):
            return None
        return run if sitters or self._in.store.has_run(run) else None

    def _may_live(self, record: SeatRecord) -> bool:
        """Whether a seat's agent lives or is about to, as far as its record tells."""
        if record.pid is None or record.started is None or record.boot is None:
            return record.wanted
        return self._in.processes.alive(ProcessId(record.pid, record.started, record.boot))

    def _taken(self, place: Path, held: Holder) -> NotNow:
        ours = held.run is not None and self._in.store.has_run(held.run)
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
            f"A worktree has one living agent; {by}{whose}.",
            f"Stop it first: {stop}{'' if ours else ' (of that cockpit)'}.",
        )

    def _lease(self, seat: Seat) -> Path:
        folder = self._in.places.state / "leases"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{seat.name}.lock"


def claim(seat: Seat) -> Claim | None:
    """The lock of the worktree the seat works in; alone where it was made for this agent.

    None in a plain directory: nobody must be alone there.
    """
    path = worktree_lease(seat.directory)
    return Claim(path, shared=seat.record.worktree is None) if path is not None else None

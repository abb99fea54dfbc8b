"""End a move: end the old session once the new session has replied, or undo the move.

Never ends both sessions, and never lets both continue. If it is unknown which session is running,
because a machine's answer was lost, ends neither session, and prints the commands to continue the
move or to keep the old session.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from cockpit.cli.move_check import ALIVE, Wanted, row_of
from cockpit.cli.move_machines import Machine
from cockpit.cli.output import say
from cockpit.core.errors import CockpitError, Failed, NoSuchAgent, NotNow
from cockpit.core.safetext import safe_line
from cockpit.wire.moves import Discarded, Recorded
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Forget, Moved, Refuse, Stop

LOOK = 0.5
"""Seconds between two requests for an agent's status, while a move waits for the agent."""


class HalfMoved(Failed):
    """The move stopped halfway. Which sessions are running is unknown, so no session is ended."""


class MoveEnd:
    """Ends the old session of one move, or undoes the move."""

    def __init__(self, source: Machine, target: Machine, wanted: Wanted) -> None:
        self.source = source
        self.target = target
        self.wanted = wanted

    async def end_old(self, handoff: str) -> None:
        """Ask the source to end the old session.

        Raises the source's refusal, unless the source has already ended the session. Raises
        `HalfMoved` if the answer was lost and it is unknown whether the session has ended; then
        neither session may be ended.
        """
        try:
            await self.source.client.ask(Moved(name=self.wanted.name, handoff=handoff))
        except (NotNow, NoSuchAgent):
            if not await self._is_moved(handoff):
                raise
        except (CockpitError, OSError) as error:
            if not await self._is_moved(handoff):
                raise HalfMoved(
                    f"The new session of {self.wanted.name} runs on {self.target.shown}; "
                    f"{self.source.shown} did not confirm the end of the old one",
                    str(error),
                    self.how_to_go_on(),
                ) from error

    async def _is_moved(self, handoff: str) -> bool:
        """Return whether the old session has ended, although the request to end it failed.

        Waits while the session is being ended. Raises `HalfMoved` if the source does not answer, or
        does not end the session in time.
        """
        end = asyncio.get_running_loop().time() + self.wanted.seconds
        while True:
            try:
                row = await row_of(self.source, self.wanted.name)
            except CockpitError as error:
                raise HalfMoved(
                    f"{self.source.shown} did not confirm the end of {self.wanted.name}",
                    f"{error.title}. The new session runs on {self.target.shown}.",
                    self.how_to_go_on(),
                ) from error
            if row is None or row.handoff is None:
                return row is not None and row.moved_away
            if row.handoff.id != handoff or row.handoff.phase == "moving":
                return False
            if asyncio.get_running_loop().time() > end:
                raise HalfMoved(
                    f"{self.source.shown} is still ending the old session of {self.wanted.name}",
                    f"The new session runs on {self.target.shown}.",
                    self.how_to_go_on(),
                )
            await asyncio.sleep(LOOK)

    async def take_back(self, handoff: str, why: str, *, refuse: bool = True) -> None:
        """End the new session, and remove what arrived on the target.

        With `refuse`, also refuses the handoff, so that the old session continues. Raises
        `HalfMoved` if the target does not answer, or cannot remove what arrived. In that case the
        old session waits, because the target may be running the new session.
        """
        say(f"Undoing the move: {safe_line(why, 300)}")
        try:
            await self._take_back_there(handoff)
        except CockpitError as error:
            raise HalfMoved(
                f"{self.wanted.name} was not moved; {self.target.shown} could not be cleaned up",
                f"{error.title}. A session of the job may be running on "
                f"{self.target.shown}, so the session on {self.source.shown} waits.",
                self.how_to_go_on(),
            ) from error
        if not refuse:
            return
        try:
            await self.source.client.ask(Refuse(name=self.wanted.name, handoff=handoff))
        except CockpitError as error:
            say(f"The handoff on {self.source.shown} was not refused: {error.title}")
            say(f"See the agent's state: {self.source.by_hand('status', self.wanted.name)}")
            return
        say(f"{self.wanted.name} keeps its session on {self.source.shown}")

    async def _take_back_there(self, handoff: str) -> None:
        request = {"step": "record", "handoff": handoff}
        record = (await asyncio.to_thread(self.target.ask, request, Recorded)).record
        if record is None:
            return
        for row in (await self.target.client.status()).agents:
            if not works_in(row, record.folder):
                continue
            if row.state in ALIVE:
                await self.target.client.ask(Stop(name=row.name))
            try:
                await self.target.client.ask(Forget(name=row.name))
            except CockpitError as error:
                say(f"{row.name} stays in the list of agents on {self.target.shown}: {error.title}")
        discard = {"step": "discard", "handoff": handoff}
        answer = await asyncio.to_thread(self.target.ask, discard, Discarded)
        if answer.left:
            left, reason = safe_line(answer.left), safe_line(answer.why, 300)
            say(f"The worktree on {self.target.shown} was kept: {left} ({reason})")

    def how_to_go_on(self) -> str:
        """Return the commands to continue a move that stopped halfway, and to keep the old
        session."""
        again = f"cockpit move {self.full_name} --to {self.target.name}"
        return (
            f"To continue: {again}\nTo keep the job on {self.source.shown} instead: "
            f"{self.target.by_hand('stop', self.wanted.new_name)}; "
            f"{self.source.by_hand('refuse', self.wanted.name)}"
        )

    @property
    def full_name(self) -> str:
        """The agent's name as the user types it on this machine."""
        if self.source.host is None:
            return str(self.wanted.name)
        return f"{self.source.name}/{self.wanted.name}"


def works_in(row: AgentStatus, folder: str) -> bool:
    """Return whether the agent's directory is in this folder."""
    return Path(row.directory).is_relative_to(folder)

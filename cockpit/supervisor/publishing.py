"""Pushes the branch of a job that is done, and opens a pull request for it, where that is wanted.

Beside everything else, once for each job, never by force. What came of it is an event and on the
row; what failed is told with the command to run by hand. That it is to be done is written down
first, and is done by a supervisor that comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

from cockpit.core.errors import CockpitError, Failed
from cockpit.core.hook_events import happened
from cockpit.core.ids import SessionId
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.records import EventRecord
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of

WANTED, DONE = "publish", "published"
"""Latches of a job: that its branch is to be pushed, and that it was tried."""


class Publishing:
    """What is done with branches of jobs that are done."""

    def __init__(
        self,
        instruments: Instruments,
        changed: Callable[[Seat], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._in = instruments
        self._changed = changed
        self._spawn = spawn

    def heard(self, record: EventRecord, seat: Seat | None) -> None:
        """Something happened; called while it is being written down, and never waits."""
        over = ("after_run", "completed") in happened(record.kind, record.data)
        if seat is None or not over or not seat.record.worktree or seat.job is None:
            return
        wanted = seat.settings.worktree.push_on_success or seat.settings.worktree.create_pr
        ident = SessionId(seat.job.id)
        if wanted and self._in.store.latch(ident, WANTED, record.at):
            self._spawn(self._publish(seat))

    def take_up(self, seats: Iterable[Seat]) -> None:
        """Do what an earlier supervisor did not come to."""
        for seat in seats:
            if seat.job is None:
                continue
            ident = SessionId(seat.job.id)
            begun = self._in.store.latched(ident, WANTED) is not None
            if begun and self._in.store.latched(ident, DONE) is None:
                self._spawn(self._publish(seat))

    async def _publish(self, seat: Seat) -> None:
        assert seat.job is not None
        ident, words = SessionId(seat.job.id), ""
        try:
            words = await self._push(seat)
            if seat.settings.worktree.create_pr:
                words += f"; {await self._open_request(seat)}"
            self._tell(seat, "worktree.published", words)
        except CockpitError as refused:
            then = "" if words else await self._request_by_hand(seat)
            told = _sentences(words, refused.title, refused.detail, refused.hint)
            self._tell(seat, "worktree.not_published", told + then)
        self._in.store.latch(ident, DONE, self._in.clock.now().timestamp())

    async def _push(self, seat: Seat) -> str:
        branch, left = await self._branch(seat)
        remote = await self._in.worktrees.push(Path(str(seat.record.worktree)), branch)
        more = f"; {counted(left, 'uncommitted file')} stayed behind" if left else ""
        return f"{branch} was pushed to {remote}{more}"

    async def _branch(self, seat: Seat) -> tuple[str, int]:
        """The branch that the work is on by now, and how many files are not committed."""
        found = await self._in.worktrees.facts(Path(str(seat.record.worktree)))
        if found.branch is None:
            raise Failed(
                f"{seat.name}'s work is on no branch, so it was not pushed",
                "Its worktree is on a detached commit, or gone.",
                f"git -C {seat.record.worktree} switch -c BRANCH",
            )
        return found.branch, len(found.status)

    async def _request_by_hand(self, seat: Seat) -> str:
        """What goes behind the command of a push that has to be done by hand."""
        if not seat.settings.worktree.create_pr:
            return ""
        base, place = seat.settings.worktree.base, Path(str(seat.record.worktree))
        try:
            branch, _ = await self._branch(seat)
            command = await self._in.worktrees.pull_request_by_hand(place, branch, base)
        except CockpitError:
            return ""
        return f" && {command}" if command else ""

    async def _open_request(self, seat: Seat) -> str:
        branch, _ = await self._branch(seat)
        base = seat.settings.worktree.base
        place = Path(str(seat.record.worktree))
        address = await self._in.worktrees.open_pull_request(place, branch, base)
        return f"pull request {address}"

    def _tell(self, seat: Seat, kind: str, words: str) -> None:
        clean = safe_line(redactor_of(self._in.environment, seat).redact(words).text, 1000)
        self._in.feed.tell(kind, f"{seat.name}: {clean}", seat.name, detail=clean)
        self._in.store.save_seat(seat.change(note=clean))
        self._changed(seat)


def _sentences(*parts: str) -> str:
    """One after the other; nothing is put behind the last, which may be a command."""
    told = [part.strip() for part in parts if part.strip(" .")]
    ended = [part if part[-1] in ".!?:;" else f"{part}." for part in told[:-1]]
    return " ".join([*ended, *told[-1:]])

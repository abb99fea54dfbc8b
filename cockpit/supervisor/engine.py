"""Drives handoffs: what happens goes into `core.handoff`, what it asks for goes to `acts`.

The order is the safety: a step is written down before anything of it is done, and every command
may be done twice. One seat is driven by one task at a time. Ends and starts nothing itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import uuid4

from cockpit.core.errors import CockpitError, NotNow
from cockpit.core.facts import Facts
from cockpit.core.guards import queued
from cockpit.core.handoff import advance as rules
from cockpit.core.handoff.commands import Command
from cockpit.core.handoff.events import CalledOff, DocumentSealed, Event
from cockpit.core.handoff.record import from_record, to_record
from cockpit.core.handoff.states import (
    PHASES,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reason,
    Reviewing,
    Successor,
    Writer,
)
from cockpit.core.ids import HandoffId
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor import announcements as told
from cockpit.supervisor.acts import Acts
from cockpit.supervisor.agreeing import edited
from cockpit.supervisor.closing import Closing
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.paperwork import Paperwork
from cockpit.supervisor.queue import is_ahead, is_under_way
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import Sessions
from cockpit.supervisor.sight import Sight
from cockpit.supervisor.stall import stalled, words

_log = logging.getLogger(__name__)

STARTS = 3
"""Successors that are tried before the old session is reopened."""


class Engine:
    """Drives the handoffs of all seats."""

    def __init__(
        self,
        instruments: Instruments,
        sessions: Sessions,
        seats: Callable[[], Iterable[Seat]],
        changed: Callable[[Seat], None],
    ) -> None:
        self._in = instruments
        self._sessions = sessions
        self._seats = seats
        self._changed = changed
        self._paperwork = Paperwork(instruments, sessions)
        self._acts = Acts(instruments, sessions, self._paperwork, self._write)
        self._closing = Closing(instruments, sessions, self._paperwork)
        self._sight = Sight(instruments)
        self._locks: dict[str, asyncio.Lock] = {}

    # Beginning

    async def begin(
        self,
        seat: Seat,
        reason: Reason,
        *,
        ask: bool,
        review: bool,
        now: bool = False,
        given: str | None = None,
        words: str = "",
        because: dict[str, str] | None = None,
    ) -> HandoffRecord:
        """Begin a handoff of this seat's session. Raises `NotNow` when one is under way.

        `words` say why it is due; `because` is what the pilot is asked for, if not for the mode.
        """
        async with self._lock(seat):
            if seat.handoff is not None:
                raise NotNow(
                    f"A handoff of {seat.name} is under way already",
                    f"It is in the phase {PHASES.get(type(seat.handoff.state), 'ended')}.",
                    f"See: cockpit status {seat.name}",
                )
            if seat.session is None or seat.job is None:
                raise NotNow(
                    f"{seat.name} has no session to hand off",
                    "It was never started, or its session is not known.",
                    f"Start it: cockpit start {seat.name}",
                )
            plan = self._plan(seat, reason, ask=ask, review=review, now=now, given=given)
            handoff, commands = rules.begin(plan, self._in.clock.monotonic())
            record = await self._first_record(seat, handoff, reason)
            asked_for = {"because": because} if because is not None else {}
            record = replace(record, details={**record.details, "due": words, **asked_for})
            self._in.store.save_handoff(record)
            seat.handoff, seat.handoff_record, seat.stall = handoff, record, None
            if because is not None:
                words_held = f"{because['words']}; asking you"
                self._in.feed.tell("handoff.held_back", words_held, seat.name)
            self._changed(seat)
            told.begun(self._in.feed, seat, plan, words)
            await self._unless_stalled(seat, self._run(seat, commands))
            return record

    def writers(self, seat: Seat) -> tuple[Writer, ...]:
        """Who would write this seat's document, in turn; the agent stands first or not at all."""
        known = seat.settings.handoff.writers
        if not seat.runtime.has_readings:
            known = ("facts",)
        return tuple(sorted(known, key=lambda writer: writer != "agent"))

    async def preview(self, seat: Seat, given: str | None) -> str:
        """The document that facts alone would give, now; nothing is begun or written."""
        return await self._paperwork.preview(seat, given)

    def continuation(self, seat: Seat) -> str:
        """What a new session would be told now. Raises `NotNow` while there is no document."""
        if seat.handoff is None or seat.handoff.document is None:
            raise NotNow(
                f"There is no document that a new session of {seat.name} could be told of",
                "The handoff has not come that far." if seat.handoff else "None is under way.",
            )
        return self._paperwork.continuation(seat, seat.handoff.document)

    def facts(self, seat: Seat) -> Facts:
        """What the session's record says, the papers of handoffs aside."""
        return self._paperwork.facts(seat)

    def _plan(
        self, seat: Seat, reason: Reason, *, ask: bool, review: bool, now: bool, given: str | None
    ) -> Plan:
        settings = seat.settings.handoff
        successors = (self._sessions.mint(seat) for _ in range(STARTS))
        return Plan(
            reason=reason,
            ask=ask,
            review=review,
            successors=tuple(Successor(session, run) for session, run in successors),
            now=now,
            writers=self.writers(seat),
            given=given,
            deadline=settings.deadline,
        )

    async def _first_record(self, seat: Seat, handoff: Handoff, reason: Reason) -> HandoffRecord:
        assert seat.job is not None
        assert seat.session is not None
        ident = HandoffId(str(uuid4()))
        created = self._now()
        draft = await self._paperwork.draft_place(seat, ident)
        return HandoffRecord(
            id=ident,
            agent=seat.name,
            job=seat.job.id,
            old_session=seat.session.id,
            reason=reason,
            created=created,
            boot=self._in.clock.boot(),
            record=to_record(handoff),
            details={
                "draft": str(draft),
                "began": self._in.clock.steady(),
                "phase_since": rfc3339(created),
            },
        )

    # Driving

    async def look(self, seat: Seat) -> None:
        """Let the handoff see the world once; does nothing while the seat is being driven."""
        lock = self._lock(seat)
        if seat.handoff is None or lock.locked():
            return
        async with lock:
            now = self._in.clock.monotonic()
            if seat.handoff is not None and (seat.stall is None or now >= seat.stall.again):
                await self._unless_stalled(seat, self._look(seat))

    async def _look(self, seat: Seat) -> None:
        if seat.stall is not None:
            await self._again(seat)
        if seat.handoff is not None:
            seen = await self._sight.see(seat, seat.handoff, self._queue(seat))
            await self._advance(seat, seen)
        seat.stall = None

    async def abandon(self, seat: Seat, why: str) -> None:
        """End the handoff wherever it stands, because all agents are being ended.

        Waits for the step in hand. Who then lives in the seat is the caller's to end.
        """
        async with self._lock(seat):
            await self._advance(seat, CalledOff(why))
            if seat.handoff is not None:
                ended = Ended(Outcome.CANCELLED, why, seat.handoff.document)
                seat.handoff = replace(seat.handoff, state=ended)
                self._write(seat)
                await self._close(seat, ended)

    async def tell(self, seat: Seat, event: Event) -> None:
        """Something happened to the seat's handoff. Raises only when it changed nothing."""
        async with self._lock(seat):
            before = seat.handoff
            try:
                await self._advance(seat, event)
            except Exception as wrong:
                if seat.handoff is before:
                    raise
                self._stall(seat, wrong)

    # What cannot be done now

    async def _unless_stalled(self, seat: Seat, work: Awaitable[None]) -> None:
        """Do it; if it cannot be done, the row says why, and it is done again in a while."""
        try:
            await work
        except Exception as wrong:  # noqa: BLE001 - one handoff's trouble, told on its row
            self._stall(seat, wrong)

    def _stall(self, seat: Seat, wrong: Exception) -> None:
        if not isinstance(wrong, CockpitError | OSError):
            _log.error("the handoff of %s failed in a step", seat.name, exc_info=wrong)
        if seat.stall is None:
            self._in.feed.tell("handoff.stalled", f"{seat.name}: {words(wrong)}", seat.name)
        seat.stall = stalled(seat.stall, wrong, self._in.clock.monotonic())
        self._changed(seat)

    async def _again(self, seat: Seat) -> None:
        """What a supervisor does that comes back: the state's commands are given once more."""
        assert seat.handoff is not None
        seat.handoff = rules.taken_up(seat.handoff)
        await self._run(seat, rules.entry(seat.handoff))

    async def take_edit(self, seat: Seat) -> bool:
        """Seal what the pilot changed in the document under review; False if nothing was."""
        async with self._lock(seat):
            if seat.handoff is None or not isinstance(seat.handoff.state, Reviewing):
                return False
            document = await edited(self._in, seat, seat.handoff.state.document)
            if document is None:
                return False
            seat.note_detail(edited=True)
            await self._advance(seat, DocumentSealed(self._in.clock.monotonic(), document))
            self._in.feed.tell(
                "handoff.edited", f"You changed the handoff document of {seat.name}", seat.name
            )
            return True

    async def resume(self, seat: Seat, record: HandoffRecord) -> None:
        """Take up a handoff that an earlier supervisor left; what its state asks for is redone.

        Raises `ValueError` for a record that cannot be understood.
        """
        async with self._lock(seat):
            handoff = from_record(record.record)
            if record.boot != self._in.clock.boot():
                handoff = rules.rebased(handoff, self._in.clock.monotonic())
            seat.handoff, seat.handoff_record, seat.stall = handoff, record, None
            await self._unless_stalled(seat, self._again(seat))

    @asynccontextmanager
    async def alone(self, seat: Seat) -> AsyncIterator[None]:
        """Keep handoffs of this seat out for as long as the block lasts.

        Raises `NotNow` while one is under way or being begun, or while another such block lasts.
        """
        if seat.handoff is not None or self.is_driving(seat):
            raise NotNow(
                f"{seat.name} is between two sessions",
                "Its session is being replaced by another one.",
                "Try again in a few seconds.",
            )
        async with self._lock(seat):
            yield

    def is_driving(self, seat: Seat) -> bool:
        """Whether something is being done for this seat right now."""
        return self._lock(seat).locked()

    def _lock(self, seat: Seat) -> asyncio.Lock:
        return self._locks.setdefault(seat.name, asyncio.Lock())

    def _queue(self, seat: Seat) -> str | None:
        """Why this seat's handoff must wait for others: the queue, in words."""
        others = [each for each in self._seats() if each is not seat]
        busy = [each.name for each in others if is_under_way(each)]
        ahead = [each.name for each in others if is_ahead(each, seat)]
        return queued(busy, ahead, seat.settings.handoff.concurrent)

    async def _advance(self, seat: Seat, event: Event) -> None:
        if seat.handoff is None:
            return
        before = seat.handoff
        after, commands = rules.advance(before, event)
        if after != before:
            # Memory follows the disk: where this raises, nothing has happened.
            self._write(seat, after, **self._changes(before, after))
            told.changed(self._in.feed, seat, before, after)
        await self._run(seat, commands)
        if seat.handoff is not None and isinstance(seat.handoff.state, Ended):
            await self._close(seat, seat.handoff.state)

    async def _run(self, seat: Seat, commands: Iterable[Command]) -> None:
        for command in commands:
            answer = await self._acts.perform(seat, command)
            if answer is not None:
                await self._advance(seat, answer)

    def _changes(self, before: Handoff, after: Handoff) -> dict[str, object]:
        if type(after.state) is type(before.state) or type(after.state) not in PHASES:
            return {}
        return {"phase_since": rfc3339(self._now())}

    def _write(self, seat: Seat, handoff: Handoff | None = None, **details: object) -> None:
        """The intent, durable, before anything of it is done; then it holds in memory too.

        Raises `Hindered`, and then nothing has changed.
        """
        handoff = handoff or seat.handoff
        held = seat.handoff_record
        assert handoff is not None
        assert held is not None
        document = handoff.document
        record = replace(
            held,
            record=to_record(handoff),
            boot=self._in.clock.boot(),
            document=document.path if document else held.document,
            sha256=document.sha256 if document else held.sha256,
            writer=document.writer if document else held.writer,
            details={**held.details, **details},
        )
        self._in.store.save_handoff(record)
        seat.handoff, seat.handoff_record = handoff, record
        self._changed(seat)

    async def _close(self, seat: Seat, ended: Ended) -> None:
        assert seat.handoff_record is not None
        self._sight.forget(seat.handoff_record.id)
        await self._closing.close(seat, ended)
        self._changed(seat)

    def _now(self) -> float:
        return self._in.clock.now().timestamp()

"""Does what a handoff asks for: the one place of a handoff where processes are ended and started.

Every act may be done twice to the same effect, because a supervisor that comes back does the last
one again. What is decided, and in which order, is `core.handoff`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from cockpit.core.document import Problem
from cockpit.core.errors import CockpitError, Hindered
from cockpit.core.handoff.commands import (
    AskAgain,
    AskToEnd,
    Command,
    Compose,
    EndPredecessor,
    Interrupt,
    Prepare,
    Refresh,
    Request,
    RevivePredecessor,
    StartSuccessor,
    Withdraw,
)
from cockpit.core.handoff.events import (
    DocumentFailed,
    DocumentSealed,
    Event,
    PredecessorGone,
    PredecessorSurvived,
    Started,
    StartFailed,
    Turn,
)
from cockpit.core.handoff.states import Document, Reviving, Stopping, Successor
from cockpit.core.permission import successors_mode
from cockpit.core.request import ask_again, ask_to_end, request
from cockpit.ports.panes import PaneOccupied, PanesSilent
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agreeing import see_agreed
from cockpit.supervisor.finding import adopt
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.paperwork import Paperwork, for_its_context, words_of_use
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import Sessions
from cockpit.supervisor.sight import draft_path

PASTE_SETTLES = 0.3
"""Seconds between a paste and its Enter: a burst with the Enter in it is taken as text."""


FOR_NOW = (Hindered, PanesSilent, PaneOccupied)
"""Refusals that say nothing of the agent or its document: the same is tried again later."""


class Acts:
    """Performs commands for one engine.

    Raises, with the state unchanged, where the machine and not the agent is at fault: `FOR_NOW`
    and `OSError`. The engine gives the command again.
    """

    def __init__(
        self,
        instruments: Instruments,
        sessions: Sessions,
        paperwork: Paperwork,
        write: Callable[[Seat], None],
    ) -> None:
        self._in = instruments
        self._sessions = sessions
        self._paperwork = paperwork
        self._write = write

    async def perform(self, seat: Seat, command: Command) -> Event | None:
        """Do one thing; what came of it is an event, where the rules wait for one."""
        match command:
            case Prepare():
                seat.note_detail(draft_facts=await self._paperwork.draft_of_facts(seat))
                self._write(seat)
            case Request():
                await self._request(seat)
            case AskAgain(problems=problems):
                await self._ask_again(seat, problems)
            case AskToEnd():
                seat.runtime.ask(seat.name, ask_to_end(), None)
            case Withdraw():
                seat.runtime.withdraw_ask(seat.name)
            case Interrupt():
                await self._press_escape(seat)
            case Compose(writer=writer):
                return await self._compose(seat, writer)
            case Refresh(document=document):
                return await self._refresh(seat, document)
            case EndPredecessor():
                return await self._end_predecessor(seat)
            case StartSuccessor(attempt=attempt):
                return await self._start_successor(seat, attempt)
            case RevivePredecessor():
                return await self._revive(seat)
            case _:
                assert_never(command)
        return None

    async def _request(self, seat: Seat) -> None:
        """Lay the request out for a working agent; paste it for an idle one."""
        path = str(draft_path(seat))
        used, filling = words_of_use(seat), for_its_context(seat)
        if seat.sitting.conduct.turn is Turn.WORKING and seat.runtime.ask(
            seat.name,
            request(path, "tool", used=used, filling=filling),
            request(path, "stop", used=used, filling=filling),
        ):
            return
        await self._type(seat, request(path, "prompt", used=used, filling=filling))

    async def _ask_again(self, seat: Seat, problems: tuple[str, ...]) -> None:
        found = [Problem("asked-again", text) for text in problems]
        await self._type(seat, ask_again(str(draft_path(seat)), found))

    async def _type(self, seat: Seat, text: str) -> None:
        """Paste into the composer and submit; Enter is a key of its own, after the paste."""
        if seat.record.pane is None:
            return
        self._note(seat, typing=True)
        try:
            await self._in.panes.paste(seat.record.pane, text)
            await self._in.clock.sleep(PASTE_SETTLES)
            await self._in.panes.press(seat.record.pane, "Enter")
        except CockpitError as refused:
            self._in.feed.tell(
                "handoff.request_failed", f"The request did not go in: {refused.title}", seat.name
            )
            return
        self._note(seat, typing=False)

    def _note(self, seat: Seat, **details: object) -> None:
        seat.note_detail(**details)
        self._write(seat)

    async def _press_escape(self, seat: Seat) -> None:
        self._in.feed.tell("handoff.interrupted", f"{seat.name} was interrupted once", seat.name)
        if seat.record.pane is not None and seat.alive:
            await self._in.panes.press(seat.record.pane, "Escape")

    async def _compose(self, seat: Seat, writer: str) -> Event:
        try:
            document = await self._paperwork.seal(seat, writer)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            self._in.feed.tell(
                "handoff.writer_failed", f"No document from {writer}: {wrong.title}", seat.name
            )
            return DocumentFailed(self._in.clock.monotonic(), wrong.title)
        seat.note_detail(sealed_calls=seat.sitting.meter.api_calls)
        self._in.feed.tell(
            "handoff.document",
            f"The handoff document of {seat.name} is written ({document.writer})",
            seat.name,
            document=document.path,
            writer=document.writer,
        )
        return DocumentSealed(self._in.clock.monotonic(), document)

    async def _refresh(self, seat: Seat, sealed: Document) -> Event:
        try:
            document = await self._paperwork.refresh(seat, sealed)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            return DocumentFailed(self._in.clock.monotonic(), str(wrong))
        seat.note_detail(sealed_calls=seat.sitting.meter.api_calls)
        return DocumentSealed(self._in.clock.monotonic(), document)

    async def _end_predecessor(self, seat: Seat) -> Event:
        """End the old session's processes; only when all are seen gone may another start."""
        assert seat.handoff is not None
        assert seat.handoff_record is not None
        assert isinstance(seat.handoff.state, Stopping)
        if seat.sitting.permission_mode:
            self._note(seat, permission_mode=seat.sitting.permission_mode)
        try:
            await see_agreed(self._in, seat, seat.handoff.state.document)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            return PredecessorSurvived(f"{wrong.title}; nothing was ended")
        seat.runtime.withdraw_ask(seat.name)
        ending = await self._sessions.end(seat)
        if not ending.gone:
            pids = ", ".join(str(pid) for pid in ending.survivors)
            return PredecessorSurvived(f"processes of the old session cannot be ended: {pids}")
        self._in.feed.tell(
            "agent.ended",
            f"The old session of {seat.name} is gone",
            seat.name,
            killed=ending.killed,
            stragglers=list(ending.stragglers),
        )
        return PredecessorGone()

    async def _start_successor(self, seat: Seat, attempt: int) -> Event:
        assert seat.handoff is not None
        successor = seat.handoff.successor(attempt)
        if seat.record.run == successor.run and await adopt(self._in, self._sessions, seat):
            return Started(self._in.clock.monotonic())
        if seat.record.session in {each.session for each in seat.handoff.plan.successors}:
            ending = await self._sessions.end(seat)
            if not ending.gone:
                return StartFailed(f"an earlier start cannot be ended: {ending.survivors}")
        try:
            await self._sessions.open(
                seat, self._next_session(seat, successor), self._continuation(seat)
            )
        except FOR_NOW:
            raise
        except CockpitError as refused:
            return StartFailed(str(refused))
        return Started(self._in.clock.monotonic())

    def _next_session(self, seat: Seat, successor: Successor) -> SessionRecord:
        assert seat.handoff is not None
        assert seat.handoff_record is not None
        old = self._in.store.session(seat.handoff_record.old_session)
        assert old is not None
        assert seat.handoff.document is not None
        return SessionRecord(
            id=successor.session,
            agent=seat.name,
            job=old.job,
            number=self._sessions.next_number(old.job, seat.handoff.plan),
            previous=old.id,
            run=successor.run,
            created=self._now(),
            document=seat.handoff.document.path,
            permission_mode=self._frozen_mode(seat, old),
        )

    def _frozen_mode(self, seat: Seat, old: SessionRecord) -> str:
        """What the pilot last chose in the old session counts, unless it is the wider one."""
        assert seat.handoff_record is not None
        observed = seat.handoff_record.details.get("permission_mode")
        return successors_mode(old.permission_mode or seat.settings.permission_mode, observed)

    def _continuation(self, seat: Seat) -> str:
        assert seat.handoff is not None
        assert seat.handoff.document is not None
        return self._paperwork.continuation(seat, seat.handoff.document)

    async def _revive(self, seat: Seat) -> Event:
        """Reopen the old session, and leave word of the document that nobody took up."""
        assert seat.handoff is not None
        assert seat.handoff_record is not None
        assert isinstance(seat.handoff.state, Reviving)
        old = self._in.store.session(seat.handoff_record.old_session)
        assert old is not None
        if seat.record.session == old.id and await adopt(self._in, self._sessions, seat):
            return Started(self._in.clock.monotonic())
        ending = await self._sessions.end(seat)
        if not ending.gone:
            return StartFailed(f"a new session cannot be ended: {ending.survivors}")
        await self._paperwork.leave_notice(seat, seat.handoff.state.document)
        _, run = self._sessions.mint(seat)
        mode = self._frozen_mode(seat, old)
        again = replace(old, run=run, state="live", ended=None, permission_mode=mode)
        try:
            await self._sessions.open(seat, again, None, resume=True)
        except FOR_NOW:
            raise
        except CockpitError as refused:
            return StartFailed(str(refused))
        return Started(self._in.clock.monotonic())

    def _now(self) -> float:
        return self._in.clock.now().timestamp()

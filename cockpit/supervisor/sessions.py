"""Starting and ending the sessions of a seat.

A session's identity is written down before its process exists, so whatever is interrupted here
is found again (`finding`) by the marker that the process carries. Never starts over something that
lives, and never decides that something should start or end.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from cockpit.adapters.transcripts import Tail
from cockpit.core.errors import Failed, NotNow
from cockpit.core.handoff.states import Plan
from cockpit.core.ids import JobId, SessionId
from cockpit.ports.panes import Launch, Pane, PaneGone
from cockpit.ports.processes import Ending, ProcessId
from cockpit.ports.records import JobRecord, SessionRecord
from cockpit.ports.runtimes import SessionOrder
from cockpit.supervisor.endings import how_it_ended
from cockpit.supervisor.guards import began_latch
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.leasing import Leasing
from cockpit.supervisor.seat import Exit, Seat

Ended = Callable[[Seat, ProcessId], None]
Prologue = Callable[[Seat, SessionRecord, str | None], Awaitable[str | None]]
"""What is done before a new session's prompt is given; answers the prompt to give."""


async def no_prologue(seat: Seat, session: SessionRecord, prompt: str | None) -> str | None:
    """Nothing is done, and the prompt stays as it is."""
    return prompt


class Sessions:
    """What starts and ends processes; one for all seats."""

    def __init__(self, instruments: Instruments, ended: Ended) -> None:
        self._in = instruments
        self._ended = ended
        self.leases = Leasing(instruments)
        self._forget: dict[str, Callable[[], None]] = {}
        self.prologue: Prologue = no_prologue

    # Identity

    def mint(self, seat: Seat) -> tuple[SessionId, str]:
        """A session id, and the marker of its processes; both never used before."""
        return SessionId(str(uuid4())), f"{seat.name}-{secrets.token_hex(6)}"

    def new_job(self, seat: Seat, prompt: str | None, base_commit: str | None) -> JobRecord:
        """A job for the seat, written down."""
        job = JobRecord(JobId(str(uuid4())), seat.name, prompt, self._now(), base_commit)
        self._in.store.add_job(job)
        return job

    def next_number(self, job: JobId, plan: Plan | None = None) -> int:
        """The next place in a job's chain; what was undone keeps its own.

        The starts of a plan share one place: only one of them comes to live.
        """
        tried = {each.session for each in plan.successors} if plan else set()
        places = (each.number for each in self._in.store.chain(job) if each.id not in tried)
        return max(places, default=0) + 1

    # Starting

    async def open(
        self,
        seat: Seat,
        session: SessionRecord,
        prompt: str | None,
        *,
        resume: bool = False,
    ) -> None:
        """Start a process for this session in the seat's pane, or in a new one.

        Raises `ProgramMissing`, `NotNow` where somebody else works there, and other refusals before
        anything was changed; `Failed` when the
        process could not be had. The directory must exist and is where the process will be.
        """
        if not resume:
            seat.opening = True
            try:
                prompt = await self.prologue(seat, session, prompt)
            finally:
                seat.opening = False
        order = self.order(seat, session, prompt, resume=resume)
        launch = await self.prepare(seat, order)
        await self.leases.free(seat)
        transcript = seat.runtime.transcript(order)
        session = replace(session, transcript=str(transcript) if transcript else None)
        self._take_back(seat)
        self._write_down(seat, session)
        self._note_beginning(session)
        seat.begin_sitting(self.tail(seat, transcript))
        seat.sitting.began_at = self._in.clock.monotonic()
        pane = await self._place(seat, launch)
        self.seated(seat, pane)

    def _note_beginning(self, session: SessionRecord) -> None:
        """When its process began, on the clock that no jump moves; for rests and limits."""
        name = began_latch(self._in.clock.boot())
        with self._in.store.transaction():
            self._in.store.unlatch(session.id, name)
            self._in.store.latch(session.id, name, self._in.clock.monotonic())

    def _take_back(self, seat: Seat) -> None:
        """What lies ready was meant for the session before."""
        seat.runtime.withdraw_ask(seat.name)
        seat.runtime.withdraw_supplement(seat.name)
        seat.runtime.release_compaction(seat.name)

    async def prepare(self, seat: Seat, order: SessionOrder) -> Launch:
        """Everything that can be refused, refused now: program, arguments, directory."""
        if not order.directory.is_dir():
            raise Failed(
                f"{order.directory} is not there",
                f"{seat.name} works in it, so nothing was started.",
                "Bring the directory back, or start the agent in another one.",
            )
        program = await asyncio.to_thread(seat.runtime.program, order.environment)
        launch = await asyncio.to_thread(seat.runtime.launch, order, program)
        return self.leases.leased(seat, launch)

    def order(
        self, seat: Seat, session: SessionRecord, prompt: str | None, *, resume: bool = False
    ) -> SessionOrder:
        """What the runtime is asked to start."""
        return SessionOrder(
            agent=seat.name,
            session_id=session.id,
            run=session.run,
            directory=seat.directory,
            prompt=prompt or None,
            resume=resume,
            model=seat.settings.model,
            permission_mode=session.permission_mode or seat.settings.permission_mode,
            arguments=seat.settings.arguments,
            command=seat.settings.command,
            environment=self.environment(seat),
        )

    def environment(self, seat: Seat) -> dict[str, str]:
        """What a pane gets: the supervisor's own environment, ours, and the agent's."""
        places = self._in.places
        env = {**self._in.environment, "COCKPIT_SOCKET": str(places.socket)}
        env.pop("COCKPIT_HOME", None)
        if places.home is not None:
            env["COCKPIT_HOME"] = str(places.home)
        env |= {"TERM": "tmux-256color", "COLORTERM": "truecolor"}
        return env | dict(seat.settings.env)

    def keep(self, seat: Seat) -> None:
        """Write down what a chain is asked for later: tokens, cost, compactions."""
        if seat.session is None:
            return
        sitting = seat.sitting
        kept = replace(
            seat.session,
            tokens=sitting.gauge.tokens or seat.session.tokens,
            cost_usd=seat.cost_usd,
            compactions=max(sitting.meter.compactions, seat.session.compactions),
        )
        if kept != seat.session:
            self._in.store.save_session(kept)
            seat.session = kept

    def finish(self, seat: Seat) -> None:
        """Write down that the seat's session is over; its record and its place stay."""
        self.keep(seat)
        if seat.session is not None and seat.session.state == "live":
            seat.session = replace(seat.session, state="ended", ended=self._now())
            self._in.store.save_session(seat.session)

    def _write_down(self, seat: Seat, session: SessionRecord) -> None:
        self.keep(seat)
        sat = replace(
            seat.record,
            session=session.id,
            run=session.run,
            pid=None,
            started=None,
            boot=None,
            wanted=True,
            ending=None,
            gave_up=None,
        )
        with self._in.store.transaction():
            self._in.store.save_session(session)
            self._in.store.save_seat(sat)
        seat.record, seat.session = sat, session
        seat.chain = self._in.store.chain(session.job)

    async def _place(self, seat: Seat, launch: Launch) -> Pane:
        if seat.record.pane is not None:
            try:
                return await self._in.panes.reopen(seat.record.pane, launch)
            except PaneGone:
                pass  # closed by hand; the agent gets a new window
        return await self._in.panes.open(seat.name, launch)

    def seated(self, seat: Seat, pane: Pane) -> None:
        """Take note of the process in a pane, and wait for its end."""
        process = self._in.processes.identify(pane.pid) if not pane.dead else None
        seat.process = process
        seat.exit = None
        if process is None:
            seat.exit = Exit(self._now(), pane.exit_status, pane.exit_signal)
        else:
            self.watch_end(seat, process)
        held = seat.record
        seat.change(
            pane=pane.id,
            pid=process.pid if process else None,
            started=process.started if process else None,
            boot=process.boot if process else None,
            note=None,
            ending=None,
            gave_up=None,
        )
        if seat.record == held:
            return
        try:
            self._in.store.save_seat(seat.record)
        except BaseException:
            # Memory says no more than the disk does: `finding.adopt` sees what is still to be done.
            seat.record = held
            raise

    def watch_end(self, seat: Seat, process: ProcessId) -> None:
        """Wait for the process's end, and for no other one's."""
        self.unwatch(seat)
        self._forget[seat.name] = self._in.processes.on_exit(
            process, lambda: self._ended(seat, process)
        )

    def unwatch(self, seat: Seat) -> None:
        """Stop waiting for the process's end."""
        if forget := self._forget.pop(seat.name, None):
            forget()

    # Its record

    def tail(self, seat: Seat, transcript: Path | None) -> Tail | None:
        """The session's record, to be followed from its beginning; None where it has no place."""
        return Tail(transcript, seat.runtime.parse) if transcript else None

    def follow(self, seat: Seat, transcript: Path) -> None:
        """The CLI says that its record is elsewhere: read it from there, from the beginning."""
        if seat.session is None or seat.session.transcript == str(transcript):
            return
        seat.session = replace(seat.session, transcript=str(transcript))
        self._in.store.save_session(seat.session)
        seat.begin_record(Tail(transcript, seat.runtime.parse))

    def cleared(self, seat: Seat, session: str, transcript: str | None, source: str) -> None:
        """The pilot began another session in the same process (`/clear`): the seat follows."""
        assert seat.session is not None
        self.keep(seat)
        old, facts = seat.session, seat.sitting.collector.facts()
        self._in.store.save_session(replace(old, state="ended", ended=self._now()))
        new = replace(
            old,
            id=SessionId(session),
            number=self.next_number(old.job),
            previous=old.id,
            created=self._now(),
            document=None,
            transcript=transcript,
            state="live",
            cost_usd=None,
            tokens=None,
            compactions=0,
        )
        seat.session = new
        with self._in.store.transaction():
            self._in.store.save_session(new)
            self._in.store.save_seat(seat.change(session=new.id))
        self._note_beginning(new)
        seat.chain = self._in.store.chain(new.job)
        seat.begin_sitting(self.tail(seat, Path(transcript) if transcript else None))
        seat.sitting.before = facts if source == "clear" else None
        self._in.feed.tell(
            "session.cleared",
            f"{seat.name} was cleared by hand; its new session is number {new.number}",
            seat.name,
            old_session=old.id,
            new_session=new.id,
        )

    # Ending

    async def end(self, seat: Seat, patience: float = 6.0) -> Ending:
        """End the seat's process and everything that carries its marker; proved, not assumed.

        Twice is the same as once: what is gone is reported gone.
        """
        self.unwatch(seat)
        if seat.record.run is None:
            return Ending(gone=True, killed=False)
        ending = await self._in.processes.end(seat.process, seat.record.run, patience=patience)
        if ending.gone:
            seat.process = None
            self._in.store.save_seat(seat.change(pid=None, started=None, boot=None))
        return ending

    async def how_it_ended(self, seat: Seat) -> Exit:
        """See `endings.how_it_ended`."""
        return await how_it_ended(self._in, seat)

    def _now(self) -> float:
        return self._in.clock.now().timestamp()


def refuse_if_alive(seat: Seat) -> None:
    """Raise `NotNow` when somebody sits here already, or is about to."""
    if seat.preparing:
        raise NotNow(
            f"{seat.name} is being started",
            f"Its worktree comes first: {seat.preparing}",
            f"Wait for it, or call it off: cockpit stop {seat.name}",
        )
    if seat.opening:
        raise NotNow(
            f"{seat.name} is being started",
            "The hooks before its session are running.",
            "Try again in a few seconds.",
        )
    if seat.alive:
        pid = seat.process.pid if seat.process else "?"
        raise NotNow(
            f"{seat.name} is running already (pid {pid})",
            "One agent has one process at a time.",
            f"Look at it: cockpit attach {seat.name}",
        )

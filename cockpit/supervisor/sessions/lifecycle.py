"""Start and end the sessions of an agent.

A session's marker is a value in the environment of the session's processes. It is saved before the
first process starts, so that `reattach` finds the process after a crash. Makes no decisions.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.errors import Failed, NotNow
from cockpit.core.events import AgentExited
from cockpit.core.handoff.states import Plan
from cockpit.core.ids import JobId, SessionId
from cockpit.ports.panes import Launch, Pane, PaneGone
from cockpit.ports.processes import Ending, ProcessId
from cockpit.ports.records import AgentRecord, JobRecord, SessionRecord
from cockpit.ports.runtimes import Program, Runtime, SessionOrder
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.latches import OPENED, began, has_reported_done
from cockpit.supervisor.agents.leases import Leases
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.agents.predicates import is_job_done
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.end_keys import press_end_keys
from cockpit.supervisor.sessions.interruptions import forget_interruption
from cockpit.supervisor.sessions.location import DIRECTORY_SECONDS
from cockpit.supervisor.sessions.orders import SessionOrders

Ended = Callable[[Agent, ProcessId | None], None]
Prologue = Callable[[Agent, SessionRecord, str | None], Awaitable[str | None]]
"""Called before a new session starts; returns the session's first prompt."""


class Sessions:
    """Starts and ends the processes of all agents."""

    def __init__(
        self,
        dependencies: Dependencies,
        agents: Callable[[], Iterable[Agent]],
        ended: Ended,
        *,
        daily_costs: DailyCosts,
        prologue: Prologue,
        transcript_begins: Callable[[], None],
    ) -> None:
        """`transcript_begins` is called when an agent has another transcript to read, or another
        process."""
        self._dependencies = dependencies
        self._agents = agents
        self._ended = ended
        self.locks = AgentLocks()
        self.leases = Leases(dependencies)
        self.orders = SessionOrders(dependencies)
        self.daily_costs = daily_costs
        self._forget: dict[str, Callable[[], None]] = {}
        self._prologue = prologue
        self.transcript_begins = transcript_begins

    # Identity

    def mint(self, agent: Agent) -> tuple[SessionId, str]:
        """Return a new session id, and a new marker for the session's processes."""
        return SessionId(str(uuid4())), f"{agent.name}-{secrets.token_hex(6)}"

    async def without_secrets(self, agent: Agent, prompt: str) -> str:
        """Return a redacted prompt, for storing. Uses a thread, because prompts can be large."""
        redactor = redactor_of(self._dependencies.environment, agent)
        return await asyncio.to_thread(lambda: redactor.redact(prompt).text)

    def new_job(self, agent: Agent, prompt: str | None, base_commit: str | None) -> JobRecord:
        """Store a new job for the agent; `prompt` must already be redacted."""
        job = JobRecord(JobId(str(uuid4())), agent.name, prompt, self._now(), base_commit)
        self._dependencies.store.add_job(job)
        return job

    def next_number(self, job: JobId, plan: Plan | None = None) -> int:
        """Return the number of the next session in a job's chain.

        Undone sessions keep their number. The sessions that a handoff (`plan`) tries to start share
        one number, because only one of them can succeed.
        """
        tried = {successor.session for successor in plan.successors} if plan else set()
        numbers = (
            session.number
            for session in self._dependencies.store.chain(job)
            if session.id not in tried
        )
        return max(numbers, default=0) + 1

    # Starting

    async def open(
        self,
        agent: Agent,
        session: SessionRecord,
        prompt: str | None,
        *,
        resume: bool = False,
    ) -> None:
        """Start a process for this session in the agent's pane, or in a new one.

        Raises `ProgramMissing`, and `NotNow` if another agent works in the directory or has the
        session open. These errors are raised before anything is changed. Raises `Failed` if the
        process could not be started. The agent's directory must exist. The caller holds the agent's
        lock.
        """
        self.locks.check_held(agent.name)
        if not resume:
            agent.start.hooks_run = True
            try:
                prompt = await self._prologue(agent, session, prompt)
            finally:
                agent.start.hooks_run = False
        runtime = self.orders.runtime_of(agent, session)
        session = replace(session, runtime=runtime.name)
        order = self.orders.of(agent, session, prompt, resume=resume)
        launch = await self.prepare(agent, order, runtime)
        await self.leases.ensure_free(agent)
        transcript = await self._dependencies.slow.ask(
            ("record", agent.name), partial(runtime.transcript, order), DIRECTORY_SECONDS
        )
        session = replace(session, transcript=str(transcript) if transcript else None)
        if resume:
            self.refuse_if_open(agent, session)
        self._withdraw_old_texts(agent)
        self._save_start(agent, session)
        agent.runtime = runtime
        self.save_start_time(session)
        forget_interruption(self._dependencies, agent)
        agent.troubles.shared = None
        agent.progress.begin_session()
        opened_at = self._now()
        self._dependencies.store.unlatch(session.id, OPENED)
        self._dependencies.store.latch(session.id, OPENED, opened_at)
        agent.begin_session(self.tail(agent, transcript), opened_at)
        agent.session_state.begun_here = not resume
        agent.session_state.began_at = self._dependencies.clock.monotonic()
        pane = await self._open_pane(agent, launch)
        self.attach_process(agent, pane)
        if agent.process is None:
            # The process ended before it could be watched.
            self._ended(agent, None)

    def refuse_if_open(self, agent: Agent, session: SessionRecord) -> None:
        """Raise `NotNow` if another agent has this session open.

        The user can open any session in another agent, for example with `/resume`.
        """
        ident = session.cli_id or session.id
        for other in self._agents():
            runs = other.alive or other.start.under_way
            if other is not agent and runs and other.cli_session == ident:
                raise NotNow(
                    f"Session {ident} is already open",
                    f"{other.name} has the session open; two processes would write to one "
                    "conversation.",
                    f"Close the session first: /clear in {other.name}, or cockpit stop "
                    f"{other.name}",
                )

    def save_start_time(self, session: SessionRecord) -> None:
        """Store the start time of the session's process, in monotonic seconds, for time limits."""
        name = began(self._dependencies.clock.boot())
        with self._dependencies.store.transaction():
            self._dependencies.store.unlatch(session.id, name)
            self._dependencies.store.latch(session.id, name, self._dependencies.clock.monotonic())

    def _withdraw_old_texts(self, agent: Agent) -> None:
        """Withdraw the undelivered texts, the compaction delay and the write permission."""
        agent.runtime.withdraw_ask(agent.name)
        agent.runtime.withdraw_supplement(agent.name)
        agent.runtime.release_compaction(agent.name)
        agent.runtime.forbid_writing(agent.name)

    async def prepare(self, agent: Agent, order: SessionOrder, runtime: Runtime) -> Launch:
        """Check program, arguments and directory, and build the launch.

        Starts nothing, but writes the files that the process needs.
        """
        is_there, slow = order.directory.is_dir, self._dependencies.slow
        if not await slow.ask(order.directory, is_there, DIRECTORY_SECONDS):
            raise Failed(
                f"{order.directory} does not exist",
                f"{agent.name} works in this directory; nothing was started.",
                "Restore the directory, or start the agent in another directory.",
            )
        program = await self.probe(runtime, order.environment)
        launch = await asyncio.to_thread(runtime.launch, order, program)
        return self.leases.with_leases(agent, launch)

    async def probe(self, runtime: Runtime, environment: Mapping[str, str]) -> Program:
        """Find the CLI's program, and load the code that opens its pane.

        Raises `ProgramMissing`, and `OsProblem` if panes cannot be opened.
        """
        program, _ = await asyncio.gather(
            asyncio.to_thread(runtime.program, environment),
            self._dependencies.panes.prepare(),
        )
        return program

    def save_counts(self, agent: Agent) -> None:
        """Save the session's tokens, cost, compactions and first permission mode, if changed.

        Adds the cost to today's cost first, because a saved cost is treated as already counted.
        """
        if agent.session is None:
            return
        self.daily_costs.count(agent)
        session_state = agent.session_state
        is_usual = self.orders.runtime_of(agent, agent.session).name == agent.settings.runtime
        is_own = is_usual and not agent.session.chosen_modes
        began_with = (session_state.began_with or "") if is_own else ""
        saved = replace(
            agent.session,
            tokens=session_state.gauge.tokens or agent.session.tokens,
            cost_usd=agent.own_cost_usd,
            compactions=max(session_state.reading.meter.compactions, agent.session.compactions),
            permission_mode=agent.session.permission_mode or began_with,
        )
        if saved != agent.session:
            self._dependencies.store.save_session(saved)
            agent.session = saved

    def finish(self, agent: Agent, record: AgentRecord | None = None) -> None:
        """Save that the agent's session has ended. Saves `record` as the agent's record, if given.

        Idempotent.
        """
        self.save_counts(agent)
        session, record = agent.session, record or agent.record
        if session is not None and session.state == "live":
            session = replace(session, state="ended", ended=self._now())
        with self._dependencies.store.transaction():
            if session is not None and session != agent.session:
                self._dependencies.store.save_session(session)
            if record != agent.record:
                self._dependencies.store.save_agent(record)
        agent.session, agent.record = session, record
        self._dependencies.prompts.forget(agent.record.run)

    def record_exit(self, agent: Agent, end: Exit | None) -> None:
        """Save how the agent's process ended, then record the event.

        `end` is None if no supervisor was running at the time. The stored `ending` then stays
        empty, so that `interruptions` can recognize this case.
        """
        record = agent.record
        text = "ended while no supervisor was running"
        if end is not None:
            text = end.description
            failed = end.abnormal and not agent.session_state.replied and agent.has_readings
            why = f"the CLI {text.rstrip('.')}. Try again: cockpit start {agent.name}"
            gave_up = why if failed else None
            record = replace(record, ending=text, gave_up=gave_up)
        self.finish(agent, record)
        self._dependencies.event_log.record(
            AgentExited(
                status=end.status if end else None,
                signal=end.signal if end else None,
                completed=is_job_done(agent) or not agent.has_readings,
                told=has_reported_done(self._dependencies.store, agent),
            ),
            f"{agent.name} {text}",
            agent.name,
        )

    def _save_start(self, agent: Agent, session: SessionRecord) -> None:
        self.save_counts(agent)
        record = replace(
            agent.record,
            session=session.id,
            run=session.run,
            pid=None,
            started=None,
            boot=None,
            wanted=True,
            ending=None,
            gave_up=None,
        )
        with self._dependencies.store.transaction():
            self._dependencies.store.end_other_sessions(agent.name, session.id, self._now())
            self._dependencies.store.save_session(session)
            self._dependencies.store.save_agent(record)
        self.unwatch(agent)
        agent.process = None
        self._dependencies.prompts.forget(agent.record.run)
        agent.record, agent.session = record, session
        agent.read_chain(self._dependencies.store, session.job)

    async def _open_pane(self, agent: Agent, launch: Launch) -> Pane:
        if agent.record.pane is not None:
            try:
                return await self._dependencies.panes.reopen(agent.record.pane, launch)
            except PaneGone:
                pass  # closed by the user; the agent gets a new window
        return await self._dependencies.panes.open(agent.name, launch)

    def attach_process(self, agent: Agent, pane: Pane) -> None:
        """Save the process of a pane as the agent's process, and watch for the process's end."""
        process = self._dependencies.processes.identify(pane.pid) if not pane.dead else None
        agent.process = process
        agent.exit = None
        if process is None:
            agent.exit = Exit(self._now(), pane.exit_status, pane.exit_signal)
        else:
            self.watch_end(agent, process)
            self.transcript_begins()
        held = agent.record
        agent.change(
            pane=pane.id,
            pid=process.pid if process else None,
            started=process.started if process else None,
            boot=process.boot if process else None,
            note=None,
            ending=None,
            gave_up=None,
        )
        if agent.record == held:
            return
        try:
            self._dependencies.store.save_agent(agent.record)
        except BaseException:
            # Keep memory equal to the database, so that `reattach` repeats the missing step.
            agent.record = held
            raise

    def watch_end(self, agent: Agent, process: ProcessId) -> None:
        """Watch for the end of this process; stop watching any other process of the agent."""
        self.unwatch(agent)
        self._forget[agent.name] = self._dependencies.processes.on_exit(
            process, lambda: self._ended(agent, process)
        )

    def unwatch(self, agent: Agent) -> None:
        """Stop watching for the end of the agent's process. Idempotent."""
        if forget := self._forget.pop(agent.name, None):
            forget()

    # The transcript

    def tail(self, agent: Agent, transcript: Path | None) -> Tail | None:
        """Return a reader of the transcript from its beginning; None if `transcript` is None."""
        return Tail(transcript, agent.runtime.parse) if transcript else None

    def ids_of(self, agent: Agent, named: SessionId) -> tuple[SessionId, SessionId | None]:
        """Return `id` and `cli_id` of a new record for the CLI's session `named`.

        If the session already has a record, which may belong to another agent's job, that record is
        kept, and the new record gets an id of its own.
        """
        if self._dependencies.store.session(named) is not None:
            return self.mint(agent)[0], named
        return named, named if agent.runtime.capabilities.chooses_ids else None

    # Ending

    async def end(self, agent: Agent, patience: float = 6.0) -> Ending:
        """End the agent's process and all processes with the session's marker; verify the end.

        `patience` is in seconds. Idempotent. The caller holds the agent's lock.
        """
        ending = await self.end_process(agent, patience)
        if ending.gone and agent.record.run is not None:
            self._dependencies.store.save_agent(agent.record)
        return ending

    async def end_process(self, agent: Agent, patience: float = 6.0) -> Ending:
        """End the processes as `end` does, but save nothing: the caller saves the record."""
        self.locks.check_held(agent.name)
        self.unwatch(agent)
        if agent.record.run is None:
            return Ending(gone=True, killed=False)
        if agent.process is not None:
            await press_end_keys(self._dependencies, agent, agent.process)
        ending = await self._dependencies.processes.end(
            agent.process,
            agent.record.run,
            patience=patience,
            first=agent.runtime.capabilities.end_signal,
        )
        if ending.gone:
            agent.process = None
            agent.change(pid=None, started=None, boot=None)
            self._dependencies.prompts.forget(agent.record.run)
        return ending

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()

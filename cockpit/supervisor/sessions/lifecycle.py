"""Starting and ending the sessions of an agent.

A session's identity is written down before its process exists, so whatever is interrupted here
is found again (`finding`) by the marker that the process carries. Never starts over something that
lives, and never decides that something should start or end.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.errors import Failed, NotNow
from cockpit.core.handoff.states import PHASES, Plan
from cockpit.core.ids import JobId, SessionId
from cockpit.ports.panes import Launch, Pane, PaneGone
from cockpit.ports.processes import Ending, ProcessId
from cockpit.ports.records import JobRecord, SessionRecord
from cockpit.ports.runtimes import Program, SessionOrder
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.exit_reason import find_exit
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.latches import began
from cockpit.supervisor.agents.leases import Leases
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.interruptions import forget_interruption

Ended = Callable[[Agent, ProcessId | None], None]
Prologue = Callable[[Agent, SessionRecord, str | None], Awaitable[str | None]]
"""What is done before a new session's prompt is given; answers the prompt to give."""


async def no_prologue(agent: Agent, session: SessionRecord, prompt: str | None) -> str | None:
    """Nothing is done, and the prompt stays as it is."""
    return prompt


class Sessions:
    """What starts and ends processes; one for all agents."""

    def __init__(self, dependencies: Dependencies, ended: Ended) -> None:
        self._dependencies = dependencies
        self._ended = ended
        self.locks = AgentLocks()
        self.leases = Leases(dependencies)
        self._forget: dict[str, Callable[[], None]] = {}
        self.prologue: Prologue = no_prologue

    # Identity

    def mint(self, agent: Agent) -> tuple[SessionId, str]:
        """A session id, and the marker of its processes; both never used before."""
        return SessionId(str(uuid4())), f"{agent.name}-{secrets.token_hex(6)}"

    async def without_secrets(self, agent: Agent, prompt: str) -> str:
        """A prompt as it may be kept. Off the loop: a prompt can have any size."""
        redactor = redactor_of(self._dependencies.environment, agent)
        return await asyncio.to_thread(lambda: redactor.redact(prompt).text)

    def new_job(self, agent: Agent, prompt: str | None, base_commit: str | None) -> JobRecord:
        """A job for the agent, written down; `prompt` is already without secrets."""
        job = JobRecord(JobId(str(uuid4())), agent.name, prompt, self._now(), base_commit)
        self._dependencies.store.add_job(job)
        return job

    def next_number(self, job: JobId, plan: Plan | None = None) -> int:
        """The next place in a job's chain; what was undone keeps its own.

        The starts of a plan share one place: only one of them comes to live.
        """
        tried = {each.session for each in plan.successors} if plan else set()
        places = (
            each.number for each in self._dependencies.store.chain(job) if each.id not in tried
        )
        return max(places, default=0) + 1

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

        Raises `ProgramMissing`, `NotNow` where somebody else works there, and other refusals before
        anything was changed; `Failed` when the
        process could not be had. The directory must exist and is where the process will be.
        The caller holds the agent's lock.
        """
        self.locks.check_held(agent.name)
        if not resume:
            agent.start.hooks_run = True
            try:
                prompt = await self.prologue(agent, session, prompt)
            finally:
                agent.start.hooks_run = False
        order = self.order(agent, session, prompt, resume=resume)
        launch = await self.prepare(agent, order)
        await self.leases.free(agent)
        transcript = await self._dependencies.slow.ask(
            ("record", agent.name), partial(agent.runtime.transcript, order)
        )
        session = replace(session, transcript=str(transcript) if transcript else None)
        self._take_back(agent)
        self._write_down(agent, session)
        self._note_beginning(session)
        forget_interruption(self._dependencies, agent)
        agent.progress.begin_session()
        agent.begin_session(self.tail(agent, transcript))
        agent.session_state.begun_here = not resume
        agent.session_state.began_at = self._dependencies.clock.monotonic()
        pane = await self._place(agent, launch)
        self.seated(agent, pane)
        if agent.process is None:
            # It ended before anybody could wait for that.
            self._ended(agent, None)

    def _note_beginning(self, session: SessionRecord) -> None:
        """When its process began, on the clock that no jump moves; for rests and limits."""
        name = began(self._dependencies.clock.boot())
        with self._dependencies.store.transaction():
            self._dependencies.store.unlatch(session.id, name)
            self._dependencies.store.latch(session.id, name, self._dependencies.clock.monotonic())

    def _take_back(self, agent: Agent) -> None:
        """What lies ready was meant for the session before."""
        agent.runtime.withdraw_ask(agent.name)
        agent.runtime.withdraw_supplement(agent.name)
        agent.runtime.release_compaction(agent.name)
        agent.runtime.forbid_writing(agent.name)

    async def prepare(self, agent: Agent, order: SessionOrder) -> Launch:
        """Everything that can be refused, refused now: program, arguments, directory."""
        if not await self._dependencies.slow.ask(order.directory, order.directory.is_dir):
            raise Failed(
                f"{order.directory} is not there",
                f"{agent.name} works in it, so nothing was started.",
                "Bring the directory back, or start the agent in another one.",
            )
        program = await self.probe(agent, order.environment)
        launch = await asyncio.to_thread(agent.runtime.launch, order, program)
        return self.leases.leased(agent, launch)

    async def probe(self, agent: Agent, environment: Mapping[str, str]) -> Program:
        """Find the agent's program, and load what opening its pane needs.

        Raises `ProgramMissing`, and `Hindered` where panes could not be opened.
        """
        program, _ = await asyncio.gather(
            asyncio.to_thread(agent.runtime.program, environment),
            self._dependencies.panes.prepare(),
        )
        return program

    def order(
        self, agent: Agent, session: SessionRecord, prompt: str | None, *, resume: bool = False
    ) -> SessionOrder:
        """What the runtime is asked to start."""
        return SessionOrder(
            agent=agent.name,
            session_id=session.id,
            run=session.run,
            directory=agent.directory,
            prompt=prompt or None,
            resume=resume,
            model=agent.settings.model,
            permission_mode=session.permission_mode or agent.settings.permission_mode,
            arguments=agent.settings.arguments,
            command=agent.settings.command,
            environment=self.environment(agent),
        )

    def environment(self, agent: Agent) -> dict[str, str]:
        """What a pane gets: the supervisor's own environment, ours, and the agent's."""
        places = self._dependencies.places
        env = {
            **self._dependencies.environment,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_STATE": str(places.state),
        }
        env.pop("COCKPIT_HOME", None)
        if places.home is not None:
            env["COCKPIT_HOME"] = str(places.home)
        env |= {"TERM": "tmux-256color", "COLORTERM": "truecolor"}
        return env | dict(agent.settings.env)

    def keep(self, agent: Agent) -> None:
        """Write down what a chain is asked for later: tokens, cost, the mode that it began with."""
        if agent.session is None:
            return
        session_state = agent.session_state
        kept = replace(
            agent.session,
            tokens=session_state.gauge.tokens or agent.session.tokens,
            cost_usd=agent.own_cost_usd,
            compactions=max(session_state.reading.meter.compactions, agent.session.compactions),
            permission_mode=agent.session.permission_mode or session_state.began_with or "",
        )
        if kept != agent.session:
            self._dependencies.store.save_session(kept)
            agent.session = kept

    def finish(self, agent: Agent) -> None:
        """Write down that the agent's session is over; its record and its place stay."""
        self.keep(agent)
        if agent.session is not None and agent.session.state == "live":
            ended = replace(agent.session, state="ended", ended=self._now())
            self._dependencies.store.save_session(ended)
            agent.session = ended
        self._dependencies.prompts.forget(agent.record.run)

    def _write_down(self, agent: Agent, session: SessionRecord) -> None:
        self.keep(agent)
        sat = replace(
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
            self._dependencies.store.save_agent(sat)
        self.unwatch(agent)
        agent.process = None
        self._dependencies.prompts.forget(agent.record.run)
        agent.record, agent.session = sat, session
        agent.chain = self._dependencies.store.chain(session.job)

    async def _place(self, agent: Agent, launch: Launch) -> Pane:
        if agent.record.pane is not None:
            try:
                return await self._dependencies.panes.reopen(agent.record.pane, launch)
            except PaneGone:
                pass  # closed by hand; the agent gets a new window
        return await self._dependencies.panes.open(agent.name, launch)

    def seated(self, agent: Agent, pane: Pane) -> None:
        """Take note of the process in a pane, and wait for its end."""
        process = self._dependencies.processes.identify(pane.pid) if not pane.dead else None
        agent.process = process
        agent.exit = None
        if process is None:
            agent.exit = Exit(self._now(), pane.exit_status, pane.exit_signal)
        else:
            self.watch_end(agent, process)
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
            # Memory says no more than the disk does: `finding.adopt` sees what is still to be done.
            agent.record = held
            raise

    def watch_end(self, agent: Agent, process: ProcessId) -> None:
        """Wait for the process's end, and for no other one's."""
        self.unwatch(agent)
        self._forget[agent.name] = self._dependencies.processes.on_exit(
            process, lambda: self._ended(agent, process)
        )

    def unwatch(self, agent: Agent) -> None:
        """Stop waiting for the process's end."""
        if forget := self._forget.pop(agent.name, None):
            forget()

    # Its record

    def tail(self, agent: Agent, transcript: Path | None) -> Tail | None:
        """The session's record, to be followed from its beginning; None where it has no place."""
        return Tail(transcript, agent.runtime.parse) if transcript else None

    def follow(self, agent: Agent, transcript: Path) -> None:
        """The CLI says that its record is elsewhere: read it from there, from the beginning."""
        if agent.session is None or agent.session.transcript == str(transcript):
            return
        agent.session = replace(agent.session, transcript=str(transcript))
        self._dependencies.store.save_session(agent.session)
        agent.begin_transcript(Tail(transcript, agent.runtime.parse))

    def cleared(self, agent: Agent, session: str, transcript: str | None, source: str) -> None:
        """The user began another session in the same process (`/clear`): the agent follows."""
        assert agent.session is not None
        self.keep(agent)
        old, facts = agent.session, agent.session_state.reading.collector.facts()
        self._dependencies.store.save_session(replace(old, state="ended", ended=self._now()))
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
        agent.session = new
        with self._dependencies.store.transaction():
            self._dependencies.store.save_session(new)
            self._dependencies.store.save_agent(agent.change(session=new.id))
        self._note_beginning(new)
        agent.chain = self._dependencies.store.chain(new.job)
        agent.begin_session(self.tail(agent, Path(transcript) if transcript else None))
        agent.session_state.before = facts if source == "clear" else None
        self._dependencies.event_log.record(
            "session.cleared",
            f"{agent.name} was cleared by hand; its new session is number {new.number}",
            agent.name,
            old_session=old.id,
            new_session=new.id,
        )

    # Ending

    async def end(self, agent: Agent, patience: float = 6.0) -> Ending:
        """End the agent's process and everything that carries its marker; proved, not assumed.

        Idempotent: what is gone is reported gone. The caller holds the agent's lock.
        """
        ending = await self.end_process(agent, patience)
        if ending.gone and agent.record.run is not None:
            self._dependencies.store.save_agent(agent.record)
        return ending

    async def end_process(self, agent: Agent, patience: float = 6.0) -> Ending:
        """As `end`, with nothing written: the caller saves the agent's record."""
        self.locks.check_held(agent.name)
        self.unwatch(agent)
        if agent.record.run is None:
            return Ending(gone=True, killed=False)
        ending = await self._dependencies.processes.end(
            agent.process, agent.record.run, patience=patience
        )
        if ending.gone:
            agent.process = None
            agent.change(pid=None, started=None, boot=None)
            self._dependencies.prompts.forget(agent.record.run)
        return ending

    async def find_exit(self, agent: Agent) -> Exit:
        """See `endings.find_exit`."""
        return await find_exit(self._dependencies, agent)

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def refuse_if_alive(agent: Agent) -> None:
    """Raise `NotNow` when somebody sits here already, or is about to."""
    if agent.start.setup:
        raise NotNow(
            f"{agent.name} is being started",
            f"Its worktree comes first: {agent.start.setup}",
            f"Wait for it, or call it off: cockpit stop {agent.name}",
        )
    refuse_if_opening(agent)
    if agent.alive:
        pid = agent.process.pid if agent.process else "?"
        raise NotNow(
            f"{agent.name} is running already (pid {pid})",
            "One agent has one process at a time.",
            f"Look at it: cockpit attach {agent.name}",
        )


def refuse_if_handing_off(agent: Agent) -> None:
    """Raise `NotNow` while a handoff of this agent is under way, process or no process."""
    if agent.handoff is not None:
        raise NotNow(
            f"A handoff of {agent.name} is under way",
            f"It is in the phase {PHASES.get(type(agent.handoff.state), 'ended')}.",
            f"Wait for it, or refuse it: cockpit refuse {agent.name}",
        )


def refuse_if_opening(agent: Agent) -> None:
    """Raise `NotNow` while the hooks before a session of this agent run."""
    if agent.start.hooks_run:
        raise NotNow(
            f"{agent.name} is being started",
            "The hooks before its session are running.",
            "Try again in a few seconds.",
        )

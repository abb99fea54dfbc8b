"""Start an agent for a user or the configuration: settings, worktree, job and session.

Most checks come before anything is created. Handoffs start their sessions in `handoff.effects`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

from cockpit.config.loaded import Loaded
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadUsage
from cockpit.core.events import AgentStarted
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import EARLIER_COST
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.inheritance import Inheritance
from cockpit.supervisor.sessions.job_worktree import JobWorktree, check_directory
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.location import DIRECTORY_SECONDS, refuse_git_folder
from cockpit.supervisor.sessions.neighbours import Neighbours
from cockpit.supervisor.sessions.opening_prompt import opening_prompt
from cockpit.supervisor.sessions.reopen import Reopening, session_named
from cockpit.supervisor.sessions.requested_settings import RequestedSettings
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.wire.verbs import Start


class Starter:
    """Starts agents, as requested by the user or the configuration."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        setup: WorktreeSetup,
        reopening: Reopening,
        neighbours: Neighbours,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._setup = setup
        self._reopening = reopening
        self._neighbours = neighbours
        self._worktree = JobWorktree(dependencies, neighbours)
        self.settings = RequestedSettings(dependencies, fleet)

    def agent_for(
        self,
        name: AgentName,
        asked: Start,
        *,
        in_place: bool = False,
        loaded: Loaded | None = None,
    ) -> Agent:
        """Create or update the agent to start, with the options of the request, and save it.

        A new agent without a config entry needs a directory. With `in_place`, the agent gets no
        worktree, even if one is configured. `loaded` is a configuration that applies to this agent
        only; None for the supervisor's. Raises the errors of `RequestedSettings.combined`.
        """
        settings, file = self.settings.combined(name, asked, in_place=in_place, loaded=loaded)
        agent = self._fleet.take_up(settings, file)
        agent.save(self._dependencies.store, agent.with_directory(str(settings.directory)))
        return agent

    async def check_program(self, settings: AgentSettings) -> None:
        """Raise `ProgramMissing` if the CLI of an agent with these settings cannot run."""
        environment = self._sessions.orders.environment_with(settings.env)
        runtime = self._dependencies.runtimes(settings.runtime)
        await asyncio.to_thread(runtime.program, environment)

    async def start(
        self,
        agent: Agent,
        prompt: str | None,
        *,
        resume: str | None = None,
        inheritance: Inheritance | None = None,
    ) -> None:
        """Begin a job in the agent: worktree, first session, process.

        `prompt` describes the job; None for the configured prompt. With an inheritance, the session
        must first read the document. `resume` is the id of a session to reopen, or `reopen.LAST`.
        If that session belongs to this agent, it continues its own job and gets only `prompt`, not
        the configured prompt. If a new worktree must be set up, the session starts afterwards, in
        the background. The caller holds the agent's lock, and has checked, while holding the lock,
        that the agent is not running.
        """
        self._sessions.locks.check_held(agent.name)
        agent.start.under_way = True
        try:
            await self._start(agent, prompt, resume, inheritance)
        finally:
            agent.start.under_way = False

    async def _start(
        self,
        agent: Agent,
        prompt: str | None,
        resume: str | None,
        inheritance: Inheritance | None,
    ) -> None:
        settings = agent.settings
        slow = self._dependencies.slow
        if not await slow.ask(settings.directory, settings.directory.is_dir, DIRECTORY_SECONDS):
            raise BadUsage(
                f"{settings.directory} is not a directory",
                f"{agent.name} is configured to work in this directory.",
                "Create the directory, or choose another with --directory.",
            )
        refuse = partial(refuse_git_folder, settings, settings.directory)
        await slow.ask(settings.directory, refuse, DIRECTORY_SECONDS)
        text = prompt if prompt is not None else settings.prompt
        ident = session_named(agent, resume) if resume else None
        own = self._reopening.own_session(agent, ident) if ident else None
        if ident is not None:
            await self._check_resumable(agent, ident)
        agent.environment = self._sessions.orders.environment(agent)
        agent.runtime = runtime_of(self._dependencies.runtimes, agent, own)
        # Find the program before a worktree is created.
        await self._sessions.probe(agent.runtime, agent.environment)
        job = self._dependencies.store.job(own.job) if own else None
        before = inheritance.predecessor if inheritance is not None else None
        if before is not None:
            job = before.job
        if job is None:
            clean = await self._sessions.without_secrets(agent, text) if text else None
            own, job = None, self._sessions.new_job(agent, clean, None)
        if own is not None and job.id == agent.record.job:
            made = await self._reopening.restore_worktree(agent)
        else:
            made = await self._worktree.ensure(agent, job.id)
        await check_directory(slow, agent)
        await self._neighbours.check(agent)
        await self._sessions.leases.ensure_free(agent)
        facts = await self._dependencies.worktrees.facts(agent.directory)
        if own is None and job.base_commit is None:
            job = replace(job, base_commit=facts.head)
            self._dependencies.store.add_job(job)
        if agent.record.job != job.id:
            self._dependencies.prompts.forget(agent.record.job)
        record = replace(agent.record, job=job.id, branch=facts.branch, gave_up=None)
        agent.save(self._dependencies.store, record)
        agent.job, agent.handoffs = job, self._reopening.count_handoffs(job.id)
        agent.progress.acknowledge()
        agent.troubles.dialog = None
        if own is not None:
            start_session = partial(self._reopen, agent, own.id, prompt)
        else:
            start_session = partial(self._open_first, agent, text, ident, inheritance)
        home = await self._dependencies.worktrees.home(settings.directory)
        if home is not None and self._setup.is_due(agent, made):
            repeatable = ident is None and inheritance is None
            if text and text != job.prompt:
                # A restarted supervisor may start the session, and the job's record is redacted.
                self._dependencies.prompts.keep(job.id, text)
            self._setup.begin(agent, home, start_session, again=repeatable)
            return
        await start_session()

    def set_up_again(self, agent: Agent, home: Path, text: str) -> None:
        """Repeat the interrupted setup of the agent's worktree; then open its first session."""
        start_session = partial(self._open_first, agent, text, None, None)
        self._setup.begin(agent, home, start_session, again=True)

    async def _open_first(
        self,
        agent: Agent,
        text: str,
        resume: SessionId | None,
        inheritance: Inheritance | None,
    ) -> None:
        """Open the job's first session; the worktree must be ready."""
        facts = await self._dependencies.worktrees.facts(agent.directory)
        first = opening_prompt(agent, text, inheritance, facts)
        await self._first_session(agent, first, resume, inheritance)
        self._dependencies.prompts.forget(agent.record.job)
        action = "reopened a session" if resume else "started"
        self._dependencies.event_log.record(
            AgentStarted(
                session=agent.record.session,
                directory=str(agent.directory),
                branch=facts.branch,
            ),
            f"{agent.name} {action} in {agent.directory}",
            agent.name,
        )

    async def _reopen(self, agent: Agent, ident: SessionId, prompt: str | None) -> None:
        """Reopen a session of this agent. It continues its own job, and gets only `prompt`."""
        self._sessions.save_counts(agent)
        held = self._dependencies.store.session(ident)
        assert held is not None
        again = self._reopening.reopened(agent, held)
        await self._sessions.open(agent, again, prompt or None, resume=True)
        self._dependencies.event_log.record(
            AgentStarted(
                session=again.id,
                directory=str(agent.directory),
                branch=agent.record.branch,
            ),
            f"{agent.name} reopened session {again.number} of its job in {agent.directory}",
            agent.name,
        )

    async def _first_session(
        self,
        agent: Agent,
        prompt: str | None,
        resume: SessionId | None,
        inheritance: Inheritance | None,
    ) -> None:
        assert agent.job is not None
        minted, run = self._sessions.mint(agent)
        ident, cli_id = self._sessions.ids_of(agent, resume) if resume else (minted, None)
        before = inheritance.predecessor if inheritance is not None else None
        session = SessionRecord(
            id=ident,
            cli_id=cli_id,
            runtime=agent.settings.runtime,
            agent=agent.name,
            job=agent.job.id,
            number=self._sessions.next_number(agent.job.id),
            previous=before.session if before is not None else None,
            run=run,
            created=self._dependencies.clock.now().timestamp(),
            document=inheritance.document if inheritance else None,
            permission_mode=agent.settings.permission_mode,
        )
        if resume is not None:
            now = self._dependencies.clock.now().timestamp()
            self._dependencies.store.latch(session.id, EARLIER_COST, now)
        await self._sessions.open(agent, session, prompt, resume=resume is not None)

    async def _check_resumable(self, agent: Agent, session: SessionId) -> None:
        held = self._dependencies.store.session(session)
        probe = SessionRecord(
            id=session,
            agent=agent.name,
            job=held.job if held else agent.record.job,  # type: ignore[arg-type]
            cli_id=held.cli_id if held else None,
            runtime=held.runtime if held else "",
            number=1,
            previous=None,
            run="",
            created=0.0,
        )
        runtime = self._sessions.orders.runtime_of(agent, probe)
        order = self._sessions.orders.of(agent, probe, None, resume=True)
        # The check reads the CLI's files, which may be on a file system that does not answer.
        check = partial(runtime.resumable, order)
        await self._dependencies.slow.ask(("resumable", agent.name), check, DIRECTORY_SECONDS)
        self._sessions.refuse_if_open(agent, probe)

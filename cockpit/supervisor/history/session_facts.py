"""The facts of an agent's sessions, in the format of `cockpit facts --json`."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import stamp
from cockpit.core.collect import Collector
from cockpit.core.errors import Failed, NoSuchAgent
from cockpit.core.facts import CommitMade, Facts
from cockpit.core.meter import Meter
from cockpit.core.reading import resolve_window
from cockpit.core.safetext import safe_line
from cockpit.core.session import Identified, SessionEvent, Skipped
from cockpit.core.session_commits import with_pushed
from cockpit.core.session_report import facts_report, usage_report
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_machine import machine_of
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.memories import ChainMemories
from cockpit.supervisor.history.past_records import LARGEST, PastRecords

RECORD_SECONDS = 30.0
"""Time limit for reading the transcript of a past session, in seconds."""


class SessionFacts:
    """Collects the facts of running and past sessions."""

    def __init__(self, dependencies: Dependencies, facts_of: Callable[[Agent], Facts]) -> None:
        """`facts_of` returns the facts of an agent's running session."""
        self._dependencies = dependencies
        self._facts_of = facts_of
        self._records = PastRecords(dependencies.places.state)
        self._memories = ChainMemories(dependencies)
        self._last: tuple[tuple[str, int, int], dict[str, Any]] | None = None
        """The last result of `of_earlier`, with the path, size and modification time of the
        transcript."""
        self._one_transcript = asyncio.Lock()

    async def of_agent(self, agent: Agent) -> dict[str, Any]:
        """Return the facts of the agent's current session.

        Adds the job's goal, the state and commits of git, and the chain's decisions and constraints
        in force.
        """
        git = await self._dependencies.worktrees.facts(
            agent.directory, since_commit=agent.job.base_commit if agent.job else None
        )
        commits = tuple(CommitMade(commit.hash, commit.subject) for commit in git.commits)
        if commits:
            unpushed = await self._dependencies.worktrees.unpushed(agent.directory)
            commits = with_pushed(commits, unpushed)
        facts = replace(self._facts_of(agent), commits=commits)
        if agent.job is not None and agent.job.prompt:
            facts = replace(facts, goal=agent.job.prompt)
        session = agent.session
        usage = usage_report(
            (session.transcript if session else None) or "",
            agent.session_state.reading.meter,
            agent.session_state.gauge.window,
            agent.record.session,
        )
        report = facts_report(
            facts,
            usage,
            git_status=git.status if git.root is not None and git.status_known else None,
            branch=git.branch,
            head=git.head,
        )
        return {**report, "standing": await self._memories.standing(session)}

    async def of_earlier(self, agent: Agent, ident: str) -> dict[str, Any]:
        """Return the facts of an earlier session of the agent's job. Does not use git.

        Background work that was running at the session's end has the status `unknown` if it is a
        subagent, else `ended`. Raises `NoSuchAgent` if the job does not have this session, or if
        the transcript was removed or is on another machine. Raises `Failed` if the transcript
        cannot be read, and `NoAnswer` if reading takes too long.
        """
        store = self._dependencies.store
        chain = store.chain(agent.record.job) if agent.record.job else []
        session = next((session for session in chain if session.id == ident), None)
        if session is None:
            raise NoSuchAgent(
                f"{agent.name}'s job has no session {safe_line(ident, 80)!r}",
                "",
                f"List the sessions: cockpit history {agent.name}",
            )
        if machine := machine_of(store.handoffs_of(session.job, session.id)):
            raise NoSuchAgent(
                f"The transcript of session {session.number} is on {machine}",
                f"The job was moved from {machine}.",
                "To list the session's handoff documents: cockpit history",
            )
        runtime = runtime_of(self._dependencies.runtimes, agent, session)
        read = partial(self._read_facts, session, runtime, agent.environment)
        async with self._one_transcript:
            return await self._dependencies.slow.ask(("facts of", ident), read, RECORD_SECONDS)

    def _read_facts(
        self, session: SessionRecord, runtime: Runtime, environment: Mapping[str, str]
    ) -> dict[str, Any]:
        """Read a whole transcript, unless the file has not changed since the last read. Blocks."""
        record = self._records.path(session)
        if record is None:
            raise NoSuchAgent(
                f"Session {session.number} has no transcript",
                "The transcript was removed, or the CLI wrote no transcript.",
                "To list the session's handoff documents: cockpit history",
            )
        try:
            size, changed = stamp(record)
        except OSError as error:
            raise _unreadable(session, record, error) from error
        if size > LARGEST:
            raise Failed(
                f"The transcript of session {session.number} is too large to read",
                hint="To list the session's handoff documents: cockpit history",
            )
        key = str(record), size, changed
        if self._last is None or self._last[0] != key:
            self._last = key, self._counted(session, record, runtime, environment)
        return self._last[1]

    def _counted(
        self,
        session: SessionRecord,
        record: Path,
        runtime: Runtime,
        environment: Mapping[str, str],
    ) -> dict[str, Any]:
        collector, meter, named = Collector(), Meter(), None

        def feed(event: SessionEvent | Skipped) -> None:
            nonlocal named
            collector.feed(event)
            meter.feed(event)
            if isinstance(event, Identified):
                named = event.window or named

        try:
            kept = self._records.kept_facts(record)
            if kept is not None:
                return kept
            self._records.read(record, runtime.parse, feed)
        except OSError as error:
            raise _unreadable(session, record, error) from error
        collector.only_running(())
        facts = collector.facts()
        over = tuple(
            replace(subagent, status="unknown") if subagent.status == "running" else subagent
            for subagent in facts.subagents
        )
        table = runtime.window(meter.model, environment)
        window = resolve_window(reported=named, table=table, seen=meter.peak)
        usage = usage_report(str(record), meter, window, session.id)
        return facts_report(replace(facts, subagents=over), usage)


def _unreadable(session: SessionRecord, record: Path, error: OSError) -> Failed:
    title = f"Cannot read the transcript of session {session.number}"
    if not error.errno:  # cockpit's own copy is damaged
        hint = "To list the session's handoff documents: cockpit history"
    else:
        hint = f"Check the file's permissions: ls -l {shlex.quote(safe_line(str(record), 300))}"
    return Failed(title, error.strerror or str(error), hint)

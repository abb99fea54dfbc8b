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
from cockpit.core.event_kinds import EventKind
from cockpit.core.hook_events import happened
from cockpit.core.ids import SessionId
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.records import EventRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies

WANTED, DONE = "publish", "published"
"""Latches of a job: that its branch is to be pushed, and that it was tried."""


class Publication:
    """What is done with branches of jobs that are done."""

    def __init__(
        self,
        dependencies: Dependencies,
        changed: Callable[[Agent], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._dependencies = dependencies
        self._changed = changed
        self._spawn = spawn

    def heard(self, record: EventRecord, agent: Agent | None) -> None:
        """Something happened; called while it is being written down, and never waits."""
        over = ("after_run", "completed") in happened(record.kind, record.data)
        if agent is None or not over or not agent.record.worktree or agent.job is None:
            return
        wanted = agent.settings.worktree.push_on_success or agent.settings.worktree.create_pr
        ident = SessionId(agent.job.id)
        if wanted and self._dependencies.store.latch(ident, WANTED, record.at):
            self._spawn(self._publish(agent))

    def take_up(self, agents: Iterable[Agent]) -> None:
        """Do what an earlier supervisor did not come to."""
        for agent in agents:
            if agent.job is None:
                continue
            ident = SessionId(agent.job.id)
            begun = self._dependencies.store.latched(ident, WANTED) is not None
            if begun and self._dependencies.store.latched(ident, DONE) is None:
                self._spawn(self._publish(agent))

    async def _publish(self, agent: Agent) -> None:
        assert agent.job is not None
        ident, words = SessionId(agent.job.id), ""
        try:
            words = await self._push(agent)
            if agent.settings.worktree.create_pr:
                words += f"; {await self._open_request(agent)}"
            self._tell(agent, "worktree.published", words)
        except CockpitError as refused:
            then = "" if words else await self._request_by_hand(agent)
            told = _sentences(words, refused.title, refused.detail, refused.hint)
            self._tell(agent, "worktree.not_published", told + then)
        self._dependencies.store.latch(ident, DONE, self._dependencies.clock.now().timestamp())

    async def _push(self, agent: Agent) -> str:
        branch, left = await self._branch(agent)
        remote = await self._dependencies.worktrees.push(Path(str(agent.record.worktree)), branch)
        more = f"; {counted(left, 'uncommitted file')} stayed behind" if left else ""
        return f"{branch} was pushed to {remote}{more}"

    async def _branch(self, agent: Agent) -> tuple[str, int]:
        """The branch that the work is on by now, and how many files are not committed."""
        found = await self._dependencies.worktrees.facts(Path(str(agent.record.worktree)))
        if found.branch is None:
            raise Failed(
                f"{agent.name}'s work is on no branch, so it was not pushed",
                "Its worktree is on a detached commit, or gone.",
                f"git -C {agent.record.worktree} switch -c BRANCH",
            )
        return found.branch, len(found.status)

    async def _request_by_hand(self, agent: Agent) -> str:
        """What goes behind the command of a push that has to be done by hand."""
        if not agent.settings.worktree.create_pr:
            return ""
        base, place = agent.settings.worktree.base, Path(str(agent.record.worktree))
        try:
            branch, _ = await self._branch(agent)
            command = await self._dependencies.worktrees.pull_request_by_hand(place, branch, base)
        except CockpitError:
            return ""
        return f" && {command}" if command else ""

    async def _open_request(self, agent: Agent) -> str:
        branch, _ = await self._branch(agent)
        base = agent.settings.worktree.base
        place = Path(str(agent.record.worktree))
        address = await self._dependencies.worktrees.open_pull_request(place, branch, base)
        return f"pull request {address}"

    def _tell(self, agent: Agent, kind: EventKind, words: str) -> None:
        clean = safe_line(
            redactor_of(self._dependencies.environment, agent).redact(words).text, 1000
        )
        self._dependencies.event_log.record(
            kind, f"{agent.name}: {clean}", agent.name, detail=clean
        )
        self._dependencies.store.save_agent(agent.change(note=clean))
        self._changed(agent)


def _sentences(*parts: str) -> str:
    """One after the other; nothing is put behind the last, which may be a command."""
    told = [part.strip() for part in parts if part.strip(" .")]
    ended = [part if part[-1] in ".!?:;" else f"{part}." for part in told[:-1]]
    return " ".join([*ended, *told[-1:]])

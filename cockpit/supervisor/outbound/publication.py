"""Push the branch of a finished job, and open a pull request, where configured.

Runs in the background, once per job, and never forces a push. An event and the screen report the
result; after an error, they contain the command to run manually. The intent is stored first, so
that a restarted supervisor completes it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

from cockpit.core.errors import CockpitError, Failed
from cockpit.core.event_topics import happened
from cockpit.core.events import PublishedKind, WorktreePublished
from cockpit.core.ids import SessionId
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.records import EventRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies

WANTED, DONE = "publish", "published"
"""Names of stored flags of a job: its branch must be pushed, and the push was attempted."""


class Publication:
    """Publishes the branches of finished jobs."""

    def __init__(
        self,
        dependencies: Dependencies,
        changed: Callable[[Agent], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._dependencies = dependencies
        self._changed = changed
        self._spawn = spawn

    def handle(self, record: EventRecord, agent: Agent | None) -> None:
        """Publish the job's branch if the event reports the end of a job.

        Runs in the event's transaction; does not block.
        """
        completed = ("after_run", "completed") in happened(record.event)
        if agent is None or not completed or not agent.record.worktree or agent.job is None:
            return
        wanted = agent.settings.worktree.push_on_success or agent.settings.worktree.create_pr
        ident = SessionId(agent.job.id)
        if wanted and self._dependencies.store.latch(ident, WANTED, record.at):
            self._spawn(self._publish(agent))

    def resume(self, agents: Iterable[Agent]) -> None:
        """Publish branches that an earlier supervisor did not publish completely."""
        for agent in agents:
            if agent.job is None:
                continue
            ident = SessionId(agent.job.id)
            begun = self._dependencies.store.latched(ident, WANTED) is not None
            if begun and self._dependencies.store.latched(ident, DONE) is None:
                self._spawn(self._publish(agent))

    async def _publish(self, agent: Agent) -> None:
        assert agent.job is not None
        ident, result = SessionId(agent.job.id), ""
        try:
            result = await self._push(agent)
            if agent.settings.worktree.create_pr:
                result += f"; {await self._open_pull_request(agent)}"
            self._record(agent, "worktree.published", result)
        except CockpitError as refused:
            then = "" if result else await self._manual_pull_request(agent)
            text = _joined(result, refused.title, refused.detail, refused.hint)
            self._record(agent, "worktree.not_published", text + then)
        self._dependencies.store.latch(ident, DONE, self._dependencies.clock.now().timestamp())

    async def _push(self, agent: Agent) -> str:
        branch, left = await self._branch(agent)
        remote = await self._dependencies.worktrees.push(Path(str(agent.record.worktree)), branch)
        more = f"; without {counted(left, 'uncommitted file')}" if left else ""
        return f"{branch} was pushed to {remote}{more}"

    async def _branch(self, agent: Agent) -> tuple[str, int]:
        """Return the current branch of the worktree, and the number of uncommitted files."""
        facts = await self._dependencies.worktrees.facts(Path(str(agent.record.worktree)))
        if facts.root is None:
            raise Failed(
                f"Cannot push {agent.name}'s work: its worktree is missing or unreadable",
                facts.problem or f"git finds no worktree at {agent.record.worktree}.",
                "To push the commits: "
                + _git(agent.settings.directory, "push", "REMOTE", agent.record.branch or "BRANCH"),
            )
        if facts.branch is None:
            raise Failed(
                f"Cannot push {agent.name}'s work: its worktree is not on a branch",
                "HEAD is detached.",
                "Create a branch, then push the branch: "
                + _git(agent.record.worktree, "switch", "-c", "BRANCH"),
            )
        return facts.branch, len(facts.status)

    async def _manual_pull_request(self, agent: Agent) -> str:
        """Return the shell command that opens a pull request after a manual push.

        The command begins with `&&`. Empty if no pull request is configured or possible.
        """
        if not agent.settings.worktree.create_pr:
            return ""
        base, place = agent.settings.worktree.base, Path(str(agent.record.worktree))
        try:
            branch, _ = await self._branch(agent)
            command = await self._dependencies.worktrees.pull_request_by_hand(place, branch, base)
        except CockpitError:
            return ""
        return f" && {command}" if command else ""

    async def _open_pull_request(self, agent: Agent) -> str:
        branch, _ = await self._branch(agent)
        base = agent.settings.worktree.base
        place = Path(str(agent.record.worktree))
        address = await self._dependencies.worktrees.open_pull_request(place, branch, base)
        return f"pull request {address}"

    def _record(self, agent: Agent, kind: PublishedKind, text: str) -> None:
        clean = safe_line(
            redactor_of(self._dependencies.environment, agent).redact(text).text, 1000
        )
        self._dependencies.event_log.record(
            WorktreePublished(kind, clean), f"{agent.name}: {clean}", agent.name
        )
        self._dependencies.store.save_agent(agent.change(note=clean))
        self._changed(agent)


def _git(directory: object, *arguments: str) -> str:
    """Return a git command for the user's shell."""
    return shlex.join(["git", "-C", str(directory), *arguments])


def _joined(*parts: str) -> str:
    """Join sentences. Adds no full stop to the last sentence, which may be a command."""
    sentences = [part.strip() for part in parts if part.strip(" .")]
    ended = [part if part[-1] in ".!?:;" else f"{part}." for part in sentences[:-1]]
    return " ".join([*ended, *sentences[-1:]])

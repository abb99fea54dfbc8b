"""List worktrees with their owners and obstacles, and remove them.

A worktree is removed only on the user's request, and only when its job is over. Stopping an agent
removes nothing. The git part is in `adapters.git.removal`.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from cockpit.config.same_paths import is_within
from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.events import WorktreeRemoved
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import rfc3339
from cockpit.ports.processes import Occupant
from cockpit.ports.worktrees import Tree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.agents.predicates import is_job_done
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.location import same_place
from cockpit.supervisor.sessions.worktree_obstacles import of_content, of_origin, of_process
from cockpit.wire.status import State
from cockpit.wire.verbs import Done, RemoveWorktree
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

TOO_MUCH = 500_000_000
"""Maximum bytes of the ignored files that a salvage saves."""


class AgentWorktrees:
    """Lists and removes the worktrees of agents."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        locks: AgentLocks,
        changed: Callable[[Agent], None],
        state_of: Callable[[Agent], State],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._locks = locks
        self._changed = changed
        self._state_of = state_of
        self._being_removed: set[Path] = set()

    def being_removed(self) -> Collection[Path]:
        """Return the worktrees that are being removed."""
        return self._being_removed

    async def listing(self, directory: str | None) -> list[WorktreeStatus]:
        """Return the linked worktrees of every agent's repository, and of `directory`'s repository.

        A repository that git cannot list has one entry with the reason.
        """
        trees, unlisted = await self._trees(directory)
        inside = await self._occupants(*(tree.directory for tree in trees if not tree.missing))
        statuses = [self._status(tree, inside.get(tree.directory, [])) for tree in trees]
        return [*statuses, *(_unlisted(root, error) for root, error in unlisted.items())]

    async def _occupants(self, *places: Path) -> dict[Path, list[Occupant]]:
        return await asyncio.to_thread(self._dependencies.processes.occupants, places)

    async def _trees(self, directory: str | None) -> tuple[list[Tree], dict[Path, CockpitError]]:
        """Return all linked worktrees, and the errors of repositories that git cannot list."""
        git = self._dependencies.worktrees
        places = {agent.record.directory for agent in self._fleet}
        places |= {directory} if directory else set()
        homes = await asyncio.gather(*(self._root(Path(place)) for place in sorted(places)))
        roots = sorted({root for root in homes if root is not None})
        collected: list[Tree] = []
        unlisted: dict[Path, CockpitError] = {}

        async def list_one(root: Path) -> list[Tree]:
            try:
                return await git.trees(root)
            except CockpitError as error:
                unlisted[root] = error
                return []

        for trees in await asyncio.gather(*map(list_one, roots)):
            collected += trees
        return collected, unlisted

    async def _root(self, directory: Path) -> Path | None:
        if not await asyncio.to_thread(directory.is_dir):
            return None
        try:
            return await self._dependencies.worktrees.home(directory)
        except CockpitError:
            return None

    def _status(self, tree: Tree, inside: list[Occupant]) -> WorktreeStatus:
        agents = self.owners(tree)
        agent = agents[0] if agents else None
        name = agent.name if agent else (tree.made.agent if tree.made else "")
        return WorktreeStatus(
            directory=str(tree.directory),
            repository=str(tree.repository),
            branch=safe_line(tree.branch) if tree.branch else None,
            head=tree.head,
            agent=safe_line(name, 40) or None,
            state=self._state_of(agent) if agent else None,
            made=tree.made is not None,
            made_at=rfc3339(tree.made.at) if tree.made and tree.made.at else None,
            missing=tree.missing,
            changed=tree.changed,
            overlooked=tree.overlooked,
            untracked=tree.untracked,
            ignored=[safe_line(name, 200) for name in tree.ignored[:100]],
            alone=tree.alone,
            behind=tree.behind,
            only_here=tree.only_here,
            busy=tree.busy,
            lock=safe_line(tree.lock, 200) if tree.lock is not None else None,
            obstacles=list(self.obstacles(tree, inside)),
        )

    def owners(self, tree: Tree) -> list[Agent]:
        """Return the agents whose worktree this is, running agents first."""
        agents = [
            agent
            for agent in self._fleet
            if agent.record.worktree and same_place(Path(agent.record.worktree), tree.directory)
        ]
        return sorted(agents, key=lambda agent: not agent.alive)

    def obstacles(
        self,
        tree: Tree,
        inside: list[Occupant],
        client: int | None = None,
        left_out: Collection[str] = (),
    ) -> Iterator[Obstacle]:
        """Yield each obstacle to removing the worktree.

        `inside`: processes in the worktree. `client`: pid of the process that asks, which is no
        obstacle itself. `left_out`: ignored files that may be lost.
        """
        yield from of_origin(tree)
        yield from self._occupant_obstacles(tree, inside, client)
        yield from of_content(tree, left_out)

    def _occupant_obstacles(
        self, tree: Tree, occupants: list[Occupant], client: int | None
    ) -> Iterator[Obstacle]:
        running_here: set[int] = set()
        for agent in self._fleet:
            mine = agent.record.worktree and same_place(Path(agent.record.worktree), tree.directory)
            place = Path(os.path.realpath(agent.directory))
            inside = mine or is_within(place, tree.directory)
            if not inside:
                continue
            stop = f"cockpit stop {agent.name}"
            if agent.in_use:
                running_here |= {agent.process.pid} if agent.process else set()
                yield Obstacle(
                    why=f"{agent.name} is running in the worktree",
                    next=f"Stop the agent: {stop}",
                    agent=agent.name,
                )
            elif mine and agent.record.wanted and not _is_job_over(agent):
                yield Obstacle(
                    why=f"the job of {agent.name} is not over", next=f"If the job is over: {stop}"
                )
        agents = {agent.process.pid for agent in self._fleet if agent.process}
        lineage = self._dependencies.processes.lineage
        # Processes that a running agent started, such as an MCP server, are not listed separately.
        foreign = [
            occupant
            for occupant in occupants
            if occupant.pid not in agents
            and occupant.pid != client
            and running_here.isdisjoint(lineage(occupant.pid))
        ]
        callers = lineage(client) if client is not None else []
        yield from (
            of_process(occupant, is_callers=occupant.pid in callers) for occupant in foreign[:5]
        )

    async def remove(self, asked: RemoveWorktree) -> Done:
        """Save a worktree's content in git, and remove the worktree.

        With `salvage_only`, only saves the content. Raises `NotNow` if something blocks this, and
        `BadUsage` if the request does not name exactly one worktree.
        """
        named = await self._named(asked)
        names = [agent.name for agent in self.owners(named)]
        async with self._locks.hold_all(names, "having its worktree removed"):
            if named.directory in self._being_removed:
                raise NotNow(
                    f"{safe_line(str(named.directory))} is already being removed",
                    "",
                    "See the remaining worktrees: cockpit worktrees",
                )
            self._being_removed.add(named.directory)
            try:
                # Looked up again: the worktree may have changed while this waited for the locks.
                return await self._remove(asked, await self._named(asked))
            finally:
                self._being_removed.discard(named.directory)

    async def _remove(self, asked: RemoveWorktree, named: Tree) -> Done:
        """Remove a worktree, or only save its content.

        The caller holds the locks of the worktree's agents, and prevents starts in the worktree.
        """
        git = self._dependencies.worktrees
        tree = await git.examine(named)
        left_out = _left_out(tree, asked.leave_out)
        if asked.salvage or asked.salvage_only:
            _refuse_large_ignored(tree, left_out)
        if asked.salvage_only:
            kept = await git.salvage(tree, tuple(left_out))
            names = ", ".join(safe_line(name, 80) for name in tree.inner[:5])
            but = f"; without the content of repositories inside it: {names}" if names else ""
            message = f"The worktree was not removed; {_kept(tree, kept)}{but}"
            return Done(message=message, text=kept)
        inside = (await self._occupants(tree.directory))[tree.directory]
        obstacles = self.obstacles(tree, [] if tree.missing else inside, asked.pid, left_out)
        _refuse(
            tree,
            [obstacle for obstacle in obstacles if not (asked.salvage and obstacle.salvageable)],
        )

        async def objection(where: Path) -> str | None:
            still = (await self._occupants(where))[where]
            obstacles = list(self._occupant_obstacles(tree, still, asked.pid))
            return f"{obstacles[0].why}. {obstacles[0].next}" if obstacles else None

        removed = await git.remove(tree, objection, tuple(left_out))
        return self._record_removal(tree, removed.salvage)

    async def _named(self, asked: RemoveWorktree) -> Tree:
        """Return the worktree with the requested path or agent; raise `BadUsage` unless exactly one
        matches."""
        trees, unlisted = await self._trees(asked.cwd)
        if os.sep in asked.tree:
            matches = [tree for tree in trees if same_place(tree.directory, Path(asked.tree))]
        else:
            matches = [tree for tree in trees if self._belongs_to(tree, asked.tree)]
        if len(matches) == 1:
            return matches[0]
        shown = safe_line(asked.tree, 200)
        if matches:
            places = ", ".join(safe_line(str(tree.directory)) for tree in matches)
            raise BadUsage(
                f"{shown!a} has several worktrees", places, "Give the path of one worktree."
            )
        reasons = " ".join(f"{error.title}: {error.detail}" for error in unlisted.values())
        raise BadUsage(
            f"There is no worktree {shown!a}",
            safe_line(reasons, 400),
            "List the worktrees: cockpit worktrees",
        )

    def _belongs_to(self, tree: Tree, name: str) -> bool:
        made_for = tree.made is not None and tree.made.agent == name
        return made_for or any(agent.name == name for agent in self.owners(tree))

    def _record_removal(self, tree: Tree, reference: str | None) -> Done:
        message = f"Removed {tree.directory}; {_kept(tree, reference)}"
        message += f"; the branch {tree.branch} is kept" if tree.branch else ""
        agents = self.owners(tree)
        self._dependencies.event_log.record(
            WorktreeRemoved(
                directory=str(tree.directory),
                branch=tree.branch,
                salvage=reference,
            ),
            message,
            agents[0].name if agents else None,
        )
        for agent in agents:
            agent.troubles.worktree = None
            note = (
                f"its worktree was removed ({reference})"
                if reference
                else "its worktree was removed"
            )
            self._dependencies.store.save_agent(agent.change(note=note))
            self._changed(agent)
        return Done(message=safe_line(message, 600), text=reference)


def _unlisted(root: Path, error: CockpitError) -> WorktreeStatus:
    why = safe_line(error.detail or error.title, 200)
    next_step = error.hint or f"To see the reason: git -C {shlex.quote(str(root))} worktree list"
    return WorktreeStatus(
        directory=str(root),
        repository=str(root),
        made=False,
        only_here=None,
        obstacles=[Obstacle(why=why, next=safe_line(next_step, 400))],
        unlisted=why,
    )


def _is_job_over(agent: Agent) -> bool:
    """Return whether the job is marked as done, or is a plain command that has succeeded."""
    ended = agent.exit is not None and not (agent.exit.abnormal or agent.exit.pending)
    return is_job_done(agent) or (ended and not agent.has_readings)


def _refuse(tree: Tree, obstacles: list[Obstacle]) -> None:
    if obstacles:
        raise NotNow(
            f"{safe_line(str(tree.directory))} is not removed",
            "\n".join(f"- {obstacle.why}\n  {obstacle.next}" for obstacle in obstacles),
            "Nothing was changed.",
        )


def _left_out(tree: Tree, names: list[str]) -> list[str]:
    """Return the ignored files with these names, spelled as in git.

    Raises `BadUsage` for a name that git does not ignore.
    """
    known = {name.rstrip("/"): name for name in tree.ignored}
    for name in names:
        if name.rstrip("/") not in known:
            ignored = ", ".join(safe_line(name, 80) for name in tree.ignored) or "nothing"
            raise BadUsage(
                f"{safe_line(name, 80)!a} is not ignored in {safe_line(str(tree.directory))}",
                f"Ignored there: {ignored}.",
                "Only ignored files can be left out.",
            )
    return [known[name.rstrip("/")] for name in names]


def _refuse_large_ignored(tree: Tree, left_out: list[str]) -> None:
    sizes = dict(zip(tree.ignored, tree.ignored_sizes, strict=True))
    saved = {name: size for name, size in sizes.items() if name not in left_out}
    if (size := sum(saved.values())) > TOO_MUCH:
        largest = sorted(saved, key=lambda name: -saved[name])[:6]
        names = " ".join(f"--leave-out {safe_line(name, 80)}" for name in largest)
        raise NotNow(
            f"The repository would grow by {size // 1_000_000} MB of ignored files",
            "Most ignored files can be generated again.",
            f"{'Also leave' if left_out else 'Leave'} out what you do not need: {names}",
        )


def _kept(tree: Tree, reference: str | None) -> str:
    if reference is None:
        return "there was nothing to save"
    what = "its git data is saved" if tree.missing else "its content is saved"
    if tree.only_here:
        commits = counted(tree.only_here, "commit")
        what += f", including {commits} that only its reflog or references had"
    where = shlex.quote(str(tree.repository))
    return f"{what}: cockpit worktrees restore {reference} NEW-FOLDER --repository {where}"

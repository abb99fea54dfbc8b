"""Which worktrees there are, whose they are, and what stands against removing one.

A worktree is removed when its job is over and the pilot says so, and never otherwise. Ending an
agent removes nothing. What git does for it is in `adapters.git_removal`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.processes import Occupant
from cockpit.ports.worktrees import Tree
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.needs import need
from cockpit.supervisor.placing import same_place
from cockpit.supervisor.rows import finished, state
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Done, RemoveWorktree
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

TOO_MUCH = 500_000_000
"""Bytes of ignored files that are not put into a repository without being asked for."""


# Looking


async def listing(supervisor: Supervisor, directory: str | None) -> list[WorktreeStatus]:
    """The linked worktrees of every agent's repository, and of the one of a directory."""
    found = await _trees(supervisor, directory)
    inside = await _occupants(supervisor, *(tree.directory for tree in found if not tree.missing))
    return [_told(supervisor, tree, inside.get(tree.directory, [])) for tree in found]


async def _occupants(supervisor: Supervisor, *places: Path) -> dict[Path, list[Occupant]]:
    return await asyncio.to_thread(supervisor.instruments.processes.occupants, places)


async def _trees(supervisor: Supervisor, directory: str | None) -> list[Tree]:
    git = supervisor.instruments.worktrees
    places = {seat.record.directory for seat in supervisor.fleet}
    places |= {directory} if directory else set()
    homes = await asyncio.gather(*(_root(supervisor, Path(place)) for place in sorted(places)))
    roots = sorted({root for root in homes if root is not None})
    listed = await asyncio.gather(*(git.trees(root) for root in roots))
    return [tree for trees in listed for tree in trees]


async def _root(supervisor: Supervisor, directory: Path) -> Path | None:
    if not await asyncio.to_thread(directory.is_dir):
        return None
    try:
        home = await supervisor.instruments.worktrees.home(directory)
    except CockpitError:
        return None
    return home.root if home is not None else None


def _told(supervisor: Supervisor, tree: Tree, inside: list[Occupant]) -> WorktreeStatus:
    seats = owners(supervisor, tree)
    seat = seats[0] if seats else None
    monotonic = supervisor.instruments.clock.monotonic()
    agent = seat.name if seat else (tree.made.agent if tree.made else "")
    return WorktreeStatus(
        directory=str(tree.directory),
        repository=str(tree.repository),
        branch=safe_line(tree.branch) if tree.branch else None,
        head=tree.head,
        agent=safe_line(agent, 40) or None,
        state=state(seat, need(seat, monotonic)) if seat else None,
        made=tree.made is not None,
        made_at=rfc3339(tree.made.at) if tree.made and tree.made.at else None,
        missing=tree.missing,
        changed=tree.changed,
        overlooked=tree.overlooked,
        untracked=tree.untracked,
        ignored=[safe_line(name, 200) for name in tree.ignored[:100]],
        alone=tree.alone,
        behind=tree.behind,
        busy=tree.busy,
        lock=safe_line(tree.lock, 200) if tree.lock is not None else None,
        obstacles=list(obstacles(supervisor, tree, inside)),
    )


def owners(supervisor: Supervisor, tree: Tree) -> list[Seat]:
    """The agents whose worktree this is, those that live first."""
    found = [
        seat
        for seat in supervisor.fleet
        if seat.record.worktree and same_place(Path(seat.record.worktree), tree.directory)
    ]
    return sorted(found, key=lambda seat: not seat.alive)


# What stands against a removal


def obstacles(
    supervisor: Supervisor,
    tree: Tree,
    inside: list[Occupant],
    client: int | None = None,
    left_out: Collection[str] = (),
) -> Iterator[Obstacle]:
    """Every reason against removing it, each with what to do; `inside` are the processes in it."""
    yield from _of_others(tree)
    yield from _of_those_inside(supervisor, tree, inside, client)
    for module in tree.modules:
        yield Obstacle(
            why=f"a submodule has commits on no remote, and would go with it: {safe_line(module)}",
            next=f"git --git-dir={module} push REMOTE COMMIT:refs/heads/BRANCH",
        )
    if not tree.missing:
        yield from _of_content(tree, left_out)


def _of_others(tree: Tree) -> Iterator[Obstacle]:
    if tree.made is None:
        yield Obstacle(
            why="cockpit has not made it",
            next=f"If it is yours: git -C {tree.repository} worktree remove {tree.directory}",
        )
    if tree.lock is not None:
        yield Obstacle(
            why=f"it is locked: {safe_line(tree.lock, 200) or 'no reason is given'}",
            next=f"git -C {tree.repository} worktree unlock {tree.directory}",
        )


def _of_those_inside(
    supervisor: Supervisor, tree: Tree, occupants: list[Occupant], client: int | None
) -> Iterator[Obstacle]:
    for seat in supervisor.fleet:
        mine = seat.record.worktree and same_place(Path(seat.record.worktree), tree.directory)
        inside = mine or Path(os.path.realpath(seat.directory)).is_relative_to(tree.directory)
        if not inside:
            continue
        stop = f"cockpit stop {seat.name}"
        if seat.alive or seat.opening or seat.handoff is not None:
            yield Obstacle(why=f"{seat.name} works in it", next=stop)
        elif mine and seat.record.wanted and not _over(seat):
            yield Obstacle(why=f"the job of {seat.name} is not over", next=f"If it is: {stop}")
    agents = {seat.process.pid for seat in supervisor.fleet if seat.process}
    foreign = [one for one in occupants if one.pid not in agents and one.pid != client]
    callers = supervisor.instruments.processes.lineage(client) if client is not None else []
    yield from (_of_occupant(one, one.pid in callers) for one in foreign[:5])


def _of_occupant(one: Occupant, called_us: bool) -> Obstacle:
    who = f"process {one.pid}"
    name = safe_line(one.name, 40)
    if one.file is not None:
        written = f"{who} has {safe_line(str(one.file), 200)} open for writing ({name})"
        return Obstacle(why=written, next="Have it finish, or end it.")
    if called_us:
        return Obstacle(why=f"you are in it yourself ({name}, {who})", next="cd elsewhere first.")
    return Obstacle(why=f"{who} works in it ({name})", next="End it, or have it work elsewhere.")


def _over(seat: Seat) -> bool:
    """It ended by itself, with its job done."""
    ended = seat.exit is not None and not seat.exit.abnormal
    return finished(seat) or (ended and not seat.runtime.has_readings)


def _of_content(tree: Tree, left_out: Collection[str]) -> Iterator[Obstacle]:
    where = tree.directory
    if tree.busy:
        yield Obstacle(
            why=f"git is in the middle of it: {tree.busy}", next=f"git -C {where} status"
        )
    if tree.inner:
        names = ", ".join(safe_line(name, 80) for name in tree.inner[:5])
        yield Obstacle(
            why=f"there are other repositories inside: {names}",
            next="Push what is in them and move them away; a submodule, then: git submodule deinit",
        )
    salvage = f"Commit it, or keep all of it aside: cockpit worktrees remove {where} --salvage"
    if tree.changed is None or tree.untracked is None:
        why = "what was changed cannot be told without running programs that the repository names"
        yield Obstacle(why=why, next=salvage, salvageable=True)
    elif tree.changed or tree.untracked:
        told = f" ({tree.overlooked} that git was told not to look at)" if tree.overlooked else ""
        changed = f"{counted(tree.changed, 'changed file')}{told}" if tree.changed or told else ""
        untracked = counted(tree.untracked, "untracked file") if tree.untracked else ""
        files = " and ".join(filter(None, (changed, untracked)))
        yield Obstacle(why=f"it has {files}", next=salvage, salvageable=True)
    if tree.alone is None or tree.alone:
        many = "commits" if tree.alone is None else counted(tree.alone, "commit")
        push = f"git -C {where} push, or merge it, or keep it aside with --salvage"
        yield Obstacle(why=f"{many} on no remote and not in its base", next=push, salvageable=True)
    if ignored := [name for name in tree.ignored if name not in left_out]:
        names = ", ".join(safe_line(name, 80) for name in ignored[:6])
        more = f" and {len(ignored) - 6} more" if len(ignored) > 6 else ""
        yield Obstacle(
            why=f"files that git ignores would be gone: {names}{more}",
            next="Keep them aside with --salvage, or give up some by name: --leave-out NAME",
            salvageable=True,
        )


# Removing


async def remove(supervisor: Supervisor, asked: RemoveWorktree) -> Done:
    """Keep what is in a worktree under a reference of its own, and remove it unless forbidden."""
    git = supervisor.instruments.worktrees
    tree = await git.examine(await _named(supervisor, asked))
    left_out = _left_out(tree, asked.leave_out)
    if asked.salvage or asked.salvage_only:
        _refuse_too_much(tree, left_out)
    if asked.salvage_only:
        kept = await git.salvage(tree, tuple(left_out))
        return Done(message=f"Nothing was removed; {_kept(tree, kept)}", text=kept)
    inside = (await _occupants(supervisor, tree.directory))[tree.directory]
    found = obstacles(supervisor, tree, [] if tree.missing else inside, asked.pid, left_out)
    _refuse(tree, [one for one in found if not (asked.salvage and one.salvageable)])

    async def objection(where: Path) -> str | None:
        still = (await _occupants(supervisor, where))[where]
        found = list(_of_those_inside(supervisor, tree, still, asked.pid))
        return f"{found[0].why}. {found[0].next}" if found else None

    removed = await git.remove(tree, objection, tuple(left_out))
    return _tell(supervisor, tree, removed.salvage)


def _refuse(tree: Tree, standing: list[Obstacle]) -> None:
    if standing:
        raise NotNow(
            f"{safe_line(str(tree.directory))} is not removed",
            "\n".join(f"- {one.why}\n  {one.next}" for one in standing),
            "Nothing was touched.",
        )


def _left_out(tree: Tree, names: list[str]) -> list[str]:
    """Ignored files and folders, spelled as git does. Raises `BadUsage` for anything else."""
    known = {name.rstrip("/"): name for name in tree.ignored}
    for name in names:
        if name.rstrip("/") not in known:
            raise BadUsage(
                f"{safe_line(name, 80)!a} is no ignored file of {safe_line(str(tree.directory))}",
                f"Those are: {', '.join(safe_line(each, 80) for each in tree.ignored) or 'none'}.",
                "Only what git ignores can be left out.",
            )
    return [known[name.rstrip("/")] for name in names]


def _refuse_too_much(tree: Tree, left_out: list[str]) -> None:
    if tree.ignored_bytes > TOO_MUCH and set(tree.ignored) - set(left_out):
        names = " ".join(f"--leave-out {safe_line(name, 80)}" for name in tree.ignored[:6])
        raise NotNow(
            f"{tree.ignored_bytes // 1_000_000} MB of ignored files would go into the repository",
            "Most of that can be made again as a rule.",
            f"Leave out what you do not need: {names}",
        )


async def _named(supervisor: Supervisor, asked: RemoveWorktree) -> Tree:
    """The worktree of that path or agent. Raises `BadUsage` when there is not exactly one."""
    trees = await _trees(supervisor, asked.cwd)
    if os.sep in asked.tree:
        found = [tree for tree in trees if same_place(tree.directory, Path(asked.tree))]
    else:
        found = [tree for tree in trees if _is_of(supervisor, tree, asked.tree)]
    if len(found) == 1:
        return found[0]
    shown = safe_line(asked.tree, 200)
    if found:
        places = ", ".join(safe_line(str(tree.directory)) for tree in found)
        raise BadUsage(f"{shown!a} has several worktrees", places, "Name one by its path.")
    raise BadUsage(f"There is no worktree {shown!a}", "", "All of them: cockpit worktrees")


def _is_of(supervisor: Supervisor, tree: Tree, name: str) -> bool:
    made_for = tree.made is not None and tree.made.agent == name
    return made_for or any(seat.name == name for seat in owners(supervisor, tree))


def _kept(tree: Tree, reference: str | None) -> str:
    if reference is None:
        return "there was nothing to keep"
    what = "the commit that it was on is kept" if tree.missing else "all of it is kept"
    return f"{what}: git -C {tree.repository} show {reference}"


def _tell(supervisor: Supervisor, tree: Tree, reference: str | None) -> Done:
    words = f"Removed {tree.directory}; {_kept(tree, reference)}"
    words += f"; the branch {tree.branch} stays" if tree.branch else ""
    seats = owners(supervisor, tree)
    supervisor.feed.tell(
        "worktree.removed",
        words,
        seats[0].name if seats else None,
        directory=str(tree.directory),
        branch=tree.branch,
        salvage=reference,
    )
    for seat in seats:
        seat.lost = None
        note = f"its worktree was removed ({reference})" if reference else "its worktree is removed"
        supervisor.instruments.store.save_seat(seat.change(note=note))
        supervisor.board.changed(seat)
    return Done(message=safe_line(words, 600), text=reference)

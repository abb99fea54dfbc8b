"""Name the obstacles to removing a worktree, each with the next step."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.processes import Occupant
from cockpit.ports.worktrees import Tree
from cockpit.wire.worktrees import Obstacle


def of_origin(tree: Tree) -> Iterator[Obstacle]:
    """Yield obstacles if cockpit did not create the worktree, and if the worktree is locked."""
    if tree.made is None:
        yield Obstacle(
            why="cockpit did not create the worktree",
            next="If the worktree is yours, remove it: "
            f"git -C {tree.repository} worktree remove {tree.directory}",
        )
    if tree.lock is not None:
        yield Obstacle(
            why=f"the worktree is locked: {safe_line(tree.lock, 200) or 'no reason given'}",
            next=f"Unlock the worktree: git -C {tree.repository} worktree unlock {tree.directory}",
        )


def of_process(occupant: Occupant, *, is_callers: bool) -> Obstacle:
    """Return the obstacle of a process in the worktree.

    `is_callers`: whether the process is an ancestor of the command that asks for the removal, such
    as the user's shell.
    """
    who = f"process {occupant.pid}"
    name = safe_line(occupant.name, 40)
    if occupant.file is not None:
        written = f"{who} has {safe_line(str(occupant.file), 200)} open for writing ({name})"
        return Obstacle(why=written, next="Wait until the process ends, or end it.")
    if is_callers:
        return Obstacle(
            why=f"your shell is in the worktree ({name}, {who})", next="cd elsewhere first."
        )
    return Obstacle(
        why=f"{who} is running in the worktree ({name})",
        next="End the process, or run it elsewhere.",
    )


def of_content(tree: Tree, left_out: Collection[str]) -> Iterator[Obstacle]:
    """Yield obstacles in the worktree's files, commits and submodules.

    `left_out`: ignored files that may be lost.
    """
    for module in tree.modules:
        yield Obstacle(
            why="a submodule has commits that are not pushed and would be lost: "
            + safe_line(module),
            next=f"Push the commits: git --git-dir={module} push REMOTE COMMIT:refs/heads/BRANCH",
        )
    yield from _in_git_files(tree)
    if not tree.missing:
        yield from _in_folder(tree, left_out)


def _in_git_files(tree: Tree) -> Iterator[Obstacle]:
    """Yield obstacles in git's files for the worktree (`.git/worktrees/NAME`).

    Removing the worktree would delete these files, even if the worktree's folder is already
    missing.
    """
    remove = f"cockpit worktrees remove {tree.directory} {_salvage_flag(tree)}"
    if tree.missing and (tree.changed is None or tree.changed):
        many = "files" if tree.changed is None else counted(tree.changed, "file")
        yield Obstacle(
            why=f"{many} staged in the worktree, with content that is only in git's index",
            next=f"Save the files: {remove}",
            salvageable=True,
        )
    if tree.only_here is None:
        why = "git cannot list the commits that are only in the worktree's reflog or refs"
        yield Obstacle(why=why, next=f"Check the repository: git -C {tree.repository} fsck")


def _in_folder(tree: Tree, left_out: Collection[str]) -> Iterator[Obstacle]:
    where, flag = tree.directory, _salvage_flag(tree)
    if tree.busy:
        yield Obstacle(
            why=f"a git operation is in progress: {tree.busy}",
            next=f"Finish or abort it; see: git -C {where} status",
        )
    if tree.inner:
        names = ", ".join(safe_line(name, 80) for name in tree.inner[:5])
        yield Obstacle(
            why=f"other repositories are inside the worktree: {names}",
            next="Push the commits of these repositories, then move the repositories "
            "elsewhere. For a submodule: git submodule deinit",
        )
    salvage = f"Commit the changes, or save everything: cockpit worktrees remove {where} {flag}"
    if tree.changed is None or tree.untracked is None:
        why = (
            "cockpit cannot list the changes without running programs that the repository "
            "configures"
        )
        yield Obstacle(why=why, next=salvage, salvageable=True)
    elif tree.changed or tree.untracked:
        hidden = f" ({tree.overlooked} hidden from git status)" if tree.overlooked else ""
        changed = (
            f"{counted(tree.changed, 'changed file')}{hidden}" if tree.changed or hidden else ""
        )
        untracked = counted(tree.untracked, "untracked file") if tree.untracked else ""
        files = " and ".join(filter(None, (changed, untracked)))
        yield Obstacle(why=f"the worktree has {files}", next=salvage, salvageable=True)
    if tree.alone is None or tree.alone:
        many = "commits" if tree.alone is None else counted(tree.alone, "commit")
        push = (
            f"Push the commits: git -C {where} push. Or merge the commits, or save them with {flag}"
        )
        yield Obstacle(why=f"{many} not pushed or merged", next=push, salvageable=True)
    if ignored := [name for name in tree.ignored if name not in left_out]:
        names = ", ".join(safe_line(name, 80) for name in ignored[:6])
        more = f" and {len(ignored) - 6} more" if len(ignored) > 6 else ""
        yield Obstacle(
            why=f"files that git ignores would be lost: {names}{more}",
            next=f"Save the files with {flag}, or leave files out: --leave-out NAME",
            salvageable=True,
        )


def _salvage_flag(tree: Tree) -> str:
    """Return the option that saves the worktree's content.

    For a worktree that cockpit did not create, this option does not remove the worktree.
    """
    return "--salvage" if tree.made is not None else "--salvage-only"

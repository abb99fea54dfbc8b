"""Create a worktree, or adopt an existing one. Removes and overwrites nothing.

Each created worktree is locked with a reason, so that no other tool removes it. A note in git's
files for the worktree (`.git/worktrees/NAME`) records the agent, the base, and whether the setup is
done. The note is written last, so a worktree without a note is unfinished; `ensure` completes it.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file, read_text
from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.git.command import GitAnswer, GitCommand
from cockpit.adapters.git.facts import GitFactFinder
from cockpit.adapters.git.filters import repository_filters
from cockpit.adapters.git.partial_clone import missing_files_step
from cockpit.adapters.git.worktree_list import USAGE, registered
from cockpit.config.git_folders import git_folder_around
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.git_settings import configured_hooks
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Made, Worktree

CHECKOUT_DEADLINE = 300.0
"""Time limit in seconds to check out a new worktree; a large worktree on a slow disk takes
minutes."""
LOCKED = "cockpit made this for"
"""Prefix of the lock reason of cockpit's worktrees."""
NOTE = "cockpit.json"
FILLING = "cockpit-filling"
"""Name of the temporary index, in a worktree's git directory, for completing the worktree's
files."""
LARGEST_NOTE = 65_536


class GitWorktrees:
    """Creates and adopts worktrees of any repository."""

    def __init__(self, command: GitCommand, look: GitFactFinder) -> None:
        self.command = command
        self.look = look

    async def home(self, directory: Path) -> Path | None:
        """Return the main checkout, or the folder of a bare repository; None outside a repository.
        `directory` may be in a linked worktree."""
        common = await self.look.common(directory)
        if common is None:
            return None
        bare = await self.command.run(common, "rev-parse", "--is-bare-repository")
        if bare.line != "true":
            return common.parent if common.name == ".git" else common
        # A bare repository may be a hidden folder beside its worktrees, with a `.git` file that
        # points to it.
        pointed = (common.parent / ".git").is_file()
        return common.parent if pointed else common

    async def foresee(self, repository: Path, directory: Path, branch: str, base: str) -> bool:
        """Run the checks of `ensure`, create nothing, and return whether the branch exists."""
        await self._refuse_git_folder(repository, directory)
        await self._check_branch(repository, branch)
        if await self._occupied(directory):
            await self._check_adoptable(repository, directory, branch)
            return True
        exists = await self._exists(repository, branch)
        if exists:
            await self._check_free(repository, branch)
        else:
            await self._commit(repository, base or "HEAD")
        await self._refuse_hooks(repository)
        return exists

    async def create_empty(
        self, repository: Path, directory: Path, branch: str, commit: str, agent: str
    ) -> Worktree:
        """Create a worktree without files, on a new branch at `commit` or on an existing branch
        that is at `commit`.

        Raises `CockpitError` if the path exists, or if the branch is at another commit or checked
        out.
        """
        await self._refuse_git_folder(repository, directory)
        await self._check_branch(repository, branch)
        if await asyncio.to_thread(os.path.lexists, directory):
            raise Failed(
                f"{safe_line(str(directory))} already exists",
                hint="Move this path elsewhere, or choose another directory under "
                "[agents.worktree].",
            )
        new = not await self._exists(repository, branch)
        if not new:
            await self._check_free(repository, branch)
            if await self._commit(repository, f"refs/heads/{branch}") != commit:
                raise Failed(
                    f"The branch {safe_line(branch)} exists and points to another commit",
                    "The branch was not changed.",
                    "Choose another branch.",
                )
        await self._refuse_hooks(repository)
        arguments = (
            ("--no-track", "-b", branch, str(directory), commit)
            if new
            else (str(directory), branch)
        )
        answer = await self._add(repository, agent, arguments)
        if not answer.ok:
            raise Failed(
                f"Cannot create the worktree {safe_line(str(directory))}",
                answer.error,
                "Check that the folder above it is writable.",
            )
        made = Made(agent, "", time.time(), "", commit, ready=True)
        await self._write_note(directory, made)
        return Worktree(directory, branch, created=True, new_branch=new, made=made)

    async def ensure(
        self, repository: Path, directory: Path, branch: str, base: str, agent: str, job: str
    ) -> Worktree:
        """Create or adopt a worktree. If the path is an empty folder, the files are checked out
        there.

        `base` is any commit; "" means HEAD. Both paths are absolute. Raises `BadUsage` for a path
        inside a git directory or an invalid branch name, and `Failed` for other errors.
        """
        await self._refuse_git_folder(repository, directory)
        await self._check_branch(repository, branch)
        if await self._occupied(directory):
            await self._check_adoptable(repository, directory, branch)
            return await self._adopted(repository, directory, branch, agent, job)
        new: tuple[str, ...] = ()
        if await self._exists(repository, branch):
            await self._check_free(repository, branch)
            began = await self._commit(repository, f"refs/heads/{branch}")
        else:
            began = await self._commit(repository, base or "HEAD")
            new = ("--no-track", "-b", branch)
        await self._refuse_hooks(repository)
        filters = await repository_filters(self.command, repository)
        last = (str(directory), began if new else branch)
        answer = await self._add(repository, agent, (*new, *last))
        if not answer.ok:
            raise Failed(
                f"Cannot create the worktree {safe_line(str(directory))}",
                answer.error,
                "If the worktree's folder was deleted manually: cockpit worktrees remove PATH.",
            )
        await self._fill(repository, directory)
        made = Made(agent, job, time.time(), await self._base(repository, base), began)
        await self._write_note(directory, made)
        return Worktree(
            directory, branch, created=True, new_branch=bool(new), made=made, unfiltered=filters
        )

    async def _adopted(
        self, repository: Path, directory: Path, branch: str, agent: str, job: str
    ) -> Worktree:
        folder = await self.look.git_folder(directory)
        made = None if folder is None else await asyncio.to_thread(read_note, folder)
        if folder is None or made is not None or not is_ours(await asyncio.to_thread(lock, folder)):
            return Worktree(directory, branch, created=False, made=made)
        await self._finish(repository, directory, folder)
        made = Made(agent, job, time.time(), commit=await self.look.head(directory) or "")
        await self._write_note(directory, made)
        return Worktree(directory, branch, created=False, made=made)

    async def _refuse_git_folder(self, repository: Path, directory: Path) -> None:
        """Raise `BadUsage` if a checkout would write into a git directory.

        This applies to an existing worktree too: its index and files would be inside the git
        directory.
        """
        common = await self.look.common(repository)
        git_folder = await asyncio.to_thread(git_folder_around, directory, also=common)
        if git_folder is not None:
            raise BadUsage(
                f"Cannot create a worktree at {safe_line(str(directory))}",
                f"{safe_line(str(git_folder))} is a git directory; git would run files in it.",
                "Choose another directory under [agents.worktree], such as .worktrees.",
            )

    async def _refuse_hooks(self, repository: Path) -> None:
        """Raise `Failed` if the repository configures hooks (`hook.NAME`): git would run them."""
        snapshot = await self.command.snapshot(repository)
        hooks = configured_hooks(snapshot.settings) if snapshot else ()
        if hooks:
            name = safe_line(os.fsdecode(hooks[0]), 80)
            raise Failed(
                "No worktree was created",
                f"The repository's configuration defines a hook: hook.{name}."
                " cockpit does not run a repository's programs.",
                "Move the hook to your own configuration (git config --global), or create the"
                " worktree manually: git worktree add",
            )

    async def _fill(self, repository: Path, directory: Path) -> None:
        """Check out all files into the empty folder, as `git worktree add` would."""
        answer = await self.command.run(
            directory, "read-tree", "-m", "-u", "HEAD", deadline=CHECKOUT_DEADLINE
        )
        if not answer.ok:
            step = await missing_files_step(self.command, repository, answer)
            raise _incomplete(directory, "git could not write the worktree's files.", answer, step)

    async def _finish(self, repository: Path, directory: Path, folder: Path) -> None:
        """Complete a worktree whose creation was interrupted, without changing existing files.

        Writes git's index last: once the index exists, a missing file counts as deleted by the
        agent.
        """
        if await asyncio.to_thread((folder / "index").exists):
            return
        own = {"GIT_INDEX_FILE": str(folder / FILLING)}
        steps = (("read-tree", "HEAD"), ("checkout-index", "--all", "--quiet"))
        for arguments, variables in (*((step, own) for step in steps), (steps[0], {})):
            answer = await self.command.run(
                directory, *arguments, deadline=CHECKOUT_DEADLINE, variables=variables
            )
            if answer.status not in (0, 1) or (arguments[0] == "read-tree" and not answer.ok):
                step = await missing_files_step(self.command, repository, answer)
                raise _incomplete(
                    directory, "The creation of the worktree was interrupted.", answer, step
                )
        await asyncio.to_thread((folder / FILLING).unlink, missing_ok=True)

    async def set_ready(self, directory: Path) -> None:
        folder = await self.look.git_folder(directory)
        made = None if folder is None else await asyncio.to_thread(read_note, folder)
        if made is not None:
            await self._write_note(directory, replace(made, ready=True))

    async def _write_note(self, directory: Path, made: Made) -> None:
        folder = await self.look.git_folder(directory)
        try:
            if folder is None:
                raise FileNotFoundError(2, "Not a git worktree")
            content = json.dumps(asdict(made)).encode()
            await asyncio.to_thread(write_private, folder / NOTE, content)
        except OSError as error:
            raise Failed(
                f"Cannot write the note about {safe_line(str(directory))}",
                str(error.strerror),
                "Check the free space of the disk, then start the agent again.",
            ) from error

    async def _check_branch(self, repository: Path, branch: str) -> None:
        # A leading dash is valid in a reference but not in a branch, because git would read it as
        # an option.
        valid = not branch.startswith("-") and (
            await self.command.run(repository, "check-ref-format", f"refs/heads/{branch}")
        )
        if not valid or not valid.ok:
            raise BadUsage(
                f"{branch!a} is not a valid branch name",
                hint="Change branch or work_item under [agents.worktree].",
            )

    async def _occupied(self, directory: Path) -> bool:
        def look() -> bool:
            if not os.path.lexists(directory):
                return False
            return not directory.is_dir() or any(directory.iterdir())

        try:
            return await asyncio.to_thread(look)
        except OSError as error:
            raise Failed(
                f"Cannot read {directory}",
                str(error.strerror),
                hint="Check the folder's permissions, or choose another directory under"
                " [agents.worktree].",
            ) from error

    async def _check_adoptable(self, repository: Path, directory: Path, branch: str) -> None:
        """Raise `Failed` unless the folder is a worktree of this repository on this branch."""
        shown = safe_line(str(directory))
        if not await self._is_worktree(repository, directory):
            raise Failed(
                f"{shown} already exists and is not a worktree of this repository",
                hint="Move this path elsewhere, or choose another directory under "
                "[agents.worktree].",
            )
        current = await self.look.branch(directory)
        if current != branch:
            on = f"branch {safe_line(current)}" if current else "no branch"
            raise Failed(
                f"The worktree {shown} is on {on}, not on {safe_line(branch)}",
                hint=f"Switch to the branch: git -C {shown} switch {safe_line(branch)}",
            )

    async def _is_worktree(self, repository: Path, directory: Path) -> bool:
        """Return whether the directory is the top folder of one of this repository's worktrees."""
        if not await asyncio.to_thread(directory.is_dir):
            return False
        common = await self.look.common(directory)
        return (
            common is not None
            and common == await self.look.common(repository)
            and await self.look.is_top(directory)
        )

    async def _exists(self, repository: Path, branch: str) -> bool:
        name = f"refs/heads/{branch}"
        return (await self.command.run(repository, "show-ref", "--verify", "--quiet", name)).ok

    async def _check_free(self, repository: Path, branch: str) -> None:
        """Raise `Failed` if any worktree has the branch checked out."""
        for fields in await registered(self.command, repository):
            if fields.get("branch") == f"refs/heads/{branch}":
                raise Failed(
                    f"The branch {safe_line(branch)} is checked out elsewhere",
                    safe_line(fields["worktree"]),
                    "Use another branch, or check out another branch in that folder. If the "
                    "folder no longer exists, run cockpit worktrees remove PATH (worktrees of "
                    "cockpit) or git worktree prune (others).",
                )

    async def _commit(self, repository: Path, base: str) -> str:
        answer = await self.command.run(
            repository, "rev-parse", "--verify", "-q", "--end-of-options", f"{base}^{{commit}}"
        )
        if answer.ok:
            return answer.line
        if await self.look.head(repository) is None:
            inside = await self.look.git_folder(repository)
            raise Failed(
                "Cannot create a worktree without a commit",
                "The repository has no commit yet." if inside else "This is not a git repository.",
                "Create a first commit." if inside else "Run git init, and create a first commit.",
            )
        raise Failed(
            f"There is no commit {safe_line(base)!a} to start from",
            hint="Set base under [agents.worktree] to a branch that exists.",
        )

    async def _base(self, repository: Path, base: str) -> str:
        """Return the full reference name of `base`; without `base`, that of the branch of HEAD.

        Empty if there is no such reference, for example if `base` is a hash.
        """
        asked = ["rev-parse", "--symbolic-full-name", "--verify", "-q", base]
        arguments = asked if base else ["symbolic-ref", "-q", "HEAD"]
        answer = await self.command.run(repository, *arguments)
        return answer.line if answer.ok and answer.line.startswith("refs/") else ""

    async def _add(self, repository: Path, agent: str, words: tuple[str, ...]) -> GitAnswer:
        async def add(*locked: str) -> GitAnswer:
            # Without a checkout: files are written by a later call, with sealed settings.
            arguments = ("worktree", "add", "--quiet", "--no-checkout", *locked, *words)
            return await self.command.run(repository, *arguments, deadline=CHECKOUT_DEADLINE)

        reason = f"{LOCKED} {agent or 'an agent'}; cockpit worktrees remove"
        answer = await add("--lock", "--reason", reason)
        if answer.status != USAGE:
            return answer
        # git before 2.33 cannot lock with a reason here.
        answer = await add()
        if answer.ok:
            where = words[-2]
            await self.command.run(repository, "worktree", "lock", "--reason", reason, where)
        return answer


def _incomplete(directory: Path, why: str, answer: GitAnswer, step: str | None = None) -> Failed:
    return Failed(
        f"The worktree {safe_line(str(directory))} is incomplete",
        f"{why} {answer.error}",
        step
        or f"Remove the worktree and start again: cockpit worktrees remove {directory} --salvage",
    )


def read_note(folder: Path) -> Made | None:
    """Return cockpit's note about a worktree, from its `.git/worktrees/NAME`; None if there is no
    valid note."""
    try:
        held = json.loads(read_file(folder / NOTE, LARGEST_NOTE))
        texts = {name: str(held[name]) for name in ("agent", "job", "base", "commit")}
        return Made(**texts, at=float(held["at"]), ready=bool(held["ready"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def lock(folder: Path) -> str | None:
    """Return why a worktree is locked, from `.git/worktrees/NAME`.

    "" for a lock without a reason, and None if the worktree is not locked.
    """
    try:
        return read_text(folder / "locked", LARGEST_NOTE, cut=True).strip()
    except OSError:
        return None


def is_ours(reason: str | None) -> bool:
    return reason is not None and reason.startswith(LOCKED)

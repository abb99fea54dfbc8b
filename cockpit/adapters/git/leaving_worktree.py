"""Describe a worktree that is moved to another machine, and pack it into a git bundle.

Uncommitted work becomes commits below `refs/cockpit/moved`, byte for byte: one with the index, and
one with the files. Ignored files, and untracked files with secrets, are not packed. The worktree,
its index and its branch are not changed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.git.command import DURABLE, GitAnswer
from cockpit.adapters.git.commit_refs import MUST_NOT_EXIST, reference_part
from cockpit.adapters.git.raw_files import GITLINK, Entry, GitPaths, RawFiles, staged, tree_entries
from cockpit.adapters.git.saved_worktree import AUTHOR
from cockpit.adapters.git.scratch import scratch
from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import Failed, NotNow
from cockpit.core.moved_worktree import REFERENCES, Parcel, StaysBehind, WorktreeState
from cockpit.core.safetext import safe_line
from cockpit.core.secret_file_names import is_secret_file

TIPS = 500
"""Maximum number of commits that the other machine reports as already in its repository."""
MOST_LISTED = 20
MOST_LOOKED_AT = 20_000
"""Maximum files that are examined to add up sizes, or to find files that git cannot store."""
DEADLINE = 600.0
OUR_FOLDER = b".cockpit/"
LFS_FILES = ":(attr:filter=lfs)"
"""A pathspec for the files that Git LFS manages."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """The description of a worktree that will be moved."""

    top: Path
    branch: str | None
    head: str
    roots: tuple[str, ...]
    """At most 20 root commits of HEAD's history, by which the other machine finds the same
    repository."""
    uncommitted: int
    """Number of files that differ from HEAD and will be moved."""
    ignored: StaysBehind
    secret: StaysBehind
    unstored: StaysBehind
    """What git cannot store: empty folders, and files that are neither regular files nor
    symlinks."""
    lfs: int
    """Number of tracked files that Git LFS manages. Their content in the worktree is moved, but not
    their other versions, which are outside of the repository."""


class LeavingWorktree:
    """Describes and packs the worktree that contains a directory."""

    def __init__(self, git: Git, directory: Path) -> None:
        self._git = git
        self._command = git.command
        self._raw_files = RawFiles(git.command)
        self._directory = directory

    async def describe(self) -> Leaving:
        """Return a description of the worktree for the user.

        Raises `NotNow` or `Failed` if the worktree cannot be moved in its current state.
        """
        top, head = await self._checked()
        roots = await self._run(top, "rev-list", "--max-parents=0", "HEAD", deadline=60.0)
        others = await self._names(top, "--others", "--exclude-standard")
        secret = [name for name in others if _is_secret(name)]
        ignored = await self._names(
            top, "--others", "--ignored", "--exclude-standard", "--directory"
        )
        changed = await self._names(top, "--modified", "--deleted")
        cached = await self._run(
            top, "diff-index", "--cached", "--name-only", "-z", "--no-renames", "HEAD"
        )
        lfs = await self._names(top, "--cached", "--", LFS_FILES)
        unstored = await asyncio.to_thread(_unstored, top, ignored)
        fresh = [name for name in others if name not in secret and not name.startswith(OUR_FOLDER)]
        uncommitted = {*changed, *fresh, *cached.output.split(b"\0")[:-1]}
        return Leaving(
            top=top,
            branch=await self._git.look.branch(top),
            head=head,
            roots=tuple(roots.output.decode("ascii").split()[:20]),
            uncommitted=len(uncommitted),
            ignored=await asyncio.to_thread(
                _stays, top, [name for name in ignored if not name.startswith(OUR_FOLDER)]
            ),
            secret=await asyncio.to_thread(_stays, top, secret),
            unstored=await asyncio.to_thread(_stays, top, unstored),
            lfs=len(lfs),
        )

    async def state(self) -> WorktreeState:
        """Return the hashes of HEAD, index and files. Writes objects to git, and no references."""
        top, head = await self._checked()
        async with self._paths(top) as git_paths:
            return await self._state(git_paths, top, head)

    async def pack(
        self, agent: str, label: str, known: Sequence[str], bundle: Path, most: int
    ) -> Parcel:
        """Store the worktree's state as commits under a reference, and write the bundle.

        `known` are commits that the other machine has; commits that this repository does not have
        are ignored. Raises `Failed` if the bundle is larger than `most` bytes or a file cannot be
        stored, and `NotNow` if files change meanwhile.
        """
        top, head = await self._checked()
        async with self._paths(top) as git_paths:
            state = await self._state(git_paths, top, head)
            if await self._state(git_paths, top, head) != state:
                raise NotNow(
                    f"{safe_line(str(top))} is being changed",
                    "Files changed while they were read.",
                    "Try again when no program writes in the worktree.",
                )
        index = await self._commit(top, state.staged, [head], "Staged files")
        commit = await self._commit(top, state.files, [head, index], "Files of a moved worktree")
        reference = await self._reference(top, agent, label, commit)
        shared = [f"^{object_id}" for object_id in await self._shared(top, known)]
        await self._run(
            top, "bundle", "create", "-q", str(bundle), reference, *shared, deadline=DEADLINE
        )
        size = (await asyncio.to_thread(bundle.stat)).st_size
        if size > most:
            raise Failed(
                f"The work of {agent} is too large to move: {size // 1_000_000} MB",
                f"At most {most // 1_000_000} MB are sent at once.",
                "Push the branch, and fetch it on the other machine; then only the rest is sent.",
            )
        return Parcel(reference, commit, state)

    async def _checked(self) -> tuple[Path, str]:
        """Return the top folder and HEAD. Raises `NotNow` or `Failed` if moving is impossible."""
        places = await self._command.places(self._directory)
        if places is None or places.top is None:
            raise Failed(
                f"{safe_line(str(self._directory))} is not in a git repository",
                "Work is sent as commits.",
                "Create a repository first: git init, and a first commit.",
            )
        top = places.top
        head = await self._git.look.head(top)
        if head is None:
            raise Failed(
                f"{safe_line(str(top))} has no commit yet", "", "Create a first commit: git commit"
            )
        if busy := await self._git.busy(top):
            raise NotNow(
                f"A git operation is in progress in {safe_line(str(top))}: {busy}",
                "A worktree cannot be moved in this state.",
                "Finish or abort the operation, then try again.",
            )
        shallow = await self._command.run(top, "rev-parse", "--is-shallow-repository")
        if shallow.line == "true":
            raise Failed(
                "A shallow clone cannot be moved",
                "A shallow clone lacks history that the other machine needs.",
                "Fetch the whole history first: git fetch --unshallow",
            )
        await self._check_index(top, head)
        return top, head

    async def _check_index(self, top: Path, head: str) -> None:
        listed = await self._run(top, "ls-files", "-t", "--stage", "-z")
        entries = list(staged(listed.output))
        for name, tag, stage, entry in entries:
            shown = safe_line(os.fsdecode(name), 200)
            if stage:
                raise NotNow(
                    f"{shown} has a conflict", "", "Resolve the conflict, then: git add PATH"
                )
            if entry[0] == GITLINK:
                raise Failed(
                    f"{shown} is a submodule, or another repository",
                    "cockpit does not move worktrees with other repositories in them.",
                    "Hand off the job on this machine, or move the job manually: git push, "
                    "then cockpit continue",
                )
            if tag == "S":
                raise Failed(
                    f"{shown} is not checked out, or has the flag skip-worktree",
                    "cockpit cannot recreate a sparse checkout on the other machine.",
                    "Check out all files first: git sparse-checkout disable",
                )
        secret = {name for name, *_ in entries if _is_secret(name)}
        if secret:
            held = await self._run(top, "ls-tree", "-r", "-z", "--full-tree", head)
            new = sorted(secret - {name for name, _ in tree_entries(held.output)})
            if new:
                shown = safe_line(os.fsdecode(new[0]), 200)
                raise NotNow(
                    f"{shown} is staged, and looks like a file with secrets",
                    "Files with secrets are not sent to another machine.",
                    f"Unstage the file: git reset -- {shown}",
                )
        # An ignored repository, such as a linked worktree, stays like all ignored files.
        others = await self._names(top, "--others", "--exclude-standard")
        nested = [name for name in others if name.endswith(b"/") and name != OUR_FOLDER]
        if nested:
            raise Failed(
                f"{safe_line(os.fsdecode(nested[0]), 200)} is another repository",
                "cockpit does not move worktrees with other repositories in them.",
                "Move this repository out of the worktree, or hand off the job on this machine.",
            )

    async def _state(self, git_paths: GitPaths, top: Path, head: str) -> WorktreeState:
        tree = await self._raw_files.run(git_paths, git_paths.folder, "write-tree")
        index = self._ok(tree).line
        names = [
            *await self._names(top, "--cached"),
            *(
                name
                for name in await self._names(top, "--others", "--exclude-standard")
                if not _is_secret(name) and not name.startswith(OUR_FOLDER)
            ),
        ]
        entries = await self._raw_files.content_of(git_paths, top, names, write=True)
        await self._check_staged(git_paths, index)
        files = await self._raw_files.tree(git_paths, entries, where=top)
        return WorktreeState(head, index, files)

    async def _check_staged(self, git_paths: GitPaths, tree: str) -> None:
        """Raise `NotNow` if the index has an entry (`git add -N`) that is not in `tree`, which was
        written from the index."""
        arguments = ("ls-files", "-t", "--stage", "-z")
        listed = self._ok(await self._raw_files.run(git_paths, git_paths.folder, *arguments))
        held = await self._raw_files.run(
            git_paths, git_paths.folder, "ls-tree", "-r", "-z", "--full-tree", tree
        )
        there = dict(tree_entries(self._ok(held).output))
        for name, _, _, entry in staged(listed.output):
            if there.get(name) != entry:
                shown = safe_line(os.fsdecode(name), 200)
                raise NotNow(
                    f"{shown} was added without its content (git add -N)",
                    "Such an entry cannot be moved.",
                    f"Add the file's content: git add {shown}. Or unstage the file: git "
                    f"reset -- {shown}",
                )

    async def _commit(self, top: Path, tree: str, parents: Sequence[str], message: str) -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        answer = await self._command.run(
            top,
            *("commit-tree", *named, "-m", message, tree),
            deadline=60.0,
            settings=DURABLE,
            variables=AUTHOR,
        )
        return self._ok(answer).line

    async def _reference(self, top: Path, agent: str, label: str, commit: str) -> str:
        stem = f"{REFERENCES}/{reference_part(agent)}/{reference_part(label)}"
        answer = GitAnswer(1, b"", "")
        for name in (stem, *(f"{stem}-{number}" for number in range(2, 100))):
            arguments = ("update-ref", name, commit, MUST_NOT_EXIST)
            answer = await self._command.run(top, *arguments, settings=DURABLE)
            if answer.ok:
                return name
        raise Failed(
            "Cannot keep the commits of the worktree",
            answer.error,
            "Check the repository: git fsck",
        )

    async def _shared(self, top: Path, known: Sequence[str]) -> list[str]:
        if not known:
            return []
        names = "".join(f"{commit}^{{commit}}\n" for commit in known[:TIPS]).encode()
        arguments = ("cat-file", "--batch-check=%(objecttype) %(objectname)")
        answer = await self._command.run(top, *arguments, stdin=names, deadline=60.0)
        lines = [line.split() for line in answer.output.decode("ascii", "replace").splitlines()]
        return [line[1] for line in lines if line[0] == "commit"]

    async def _names(self, top: Path, *options: str) -> list[bytes]:
        answer = await self._run(top, "ls-files", "-z", *options, deadline=120.0)
        return answer.output.split(b"\0")[:-1]

    async def _run(self, top: Path, *arguments: str, deadline: float = 30.0) -> GitAnswer:
        return self._ok(await self._command.run(top, *arguments, deadline=deadline))

    def _ok(self, answer: GitAnswer) -> GitAnswer:
        if not answer.ok:
            raise Failed(
                f"git cannot read the worktree {safe_line(str(self._directory))}",
                answer.error,
                "Nothing was moved. Check the worktree: git status; git fsck",
            )
        return answer

    @asynccontextmanager
    async def _paths(self, top: Path) -> AsyncIterator[GitPaths]:
        places = await self._command.places(top)
        assert places is not None
        async with scratch(self._command.private) as own:
            git_paths = GitPaths(places.folder, own / "index")
            with suppress(FileNotFoundError):
                await asyncio.to_thread(shutil.copy2, places.folder / "index", git_paths.index)
            yield git_paths


async def same_files(
    raw_files: RawFiles, git_paths: GitPaths, tree: str, entries: dict[bytes, Entry]
) -> bool:
    """Return whether the tree contains exactly these entries."""
    arguments = ("ls-tree", "-r", "-z", "--full-tree", tree)
    answer = await raw_files.run(git_paths, git_paths.folder, *arguments)
    return answer.ok and dict(tree_entries(answer.output)) == entries


def _is_secret(name: bytes) -> bool:
    return is_secret_file(os.fsdecode(name))


def _unstored(top: Path, ignored: Sequence[bytes]) -> list[bytes]:
    """Return the names that git never stores: empty folders, pipes, sockets and devices."""
    root = os.fsencode(top)
    skipped = {b".git", OUR_FOLDER.rstrip(b"/"), *(name.rstrip(b"/") for name in ignored)}
    unstored: list[bytes] = []
    left = MOST_LOOKED_AT
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = b"" if inside == b"." else inside + b"/"
        if prefix and not folders and not files:
            unstored.append(prefix)
        folders[:] = [name for name in folders if prefix + name not in skipped]
        unstored += [prefix + name for name in files if _is_special(folder + b"/" + name)]
        left -= 1 + len(files)
        if left <= 0:
            break
    return [name for name in unstored if name not in skipped]


def _is_special(path: bytes) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode))


def _stays(top: Path, names: Sequence[bytes]) -> StaysBehind:
    """Return the first `MOST_LISTED` names, the number of names, and the files' total size.

    The size counts at most `MOST_LOOKED_AT` files.
    """
    size, left = 0, MOST_LOOKED_AT
    for name in names:
        path = top / os.fsdecode(name.rstrip(b"/"))
        for inside in _files(path) if name.endswith(b"/") else (path,):
            if left <= 0:
                break
            left -= 1
            with suppress(OSError):
                size += inside.lstat().st_size
    shown = tuple(safe_line(os.fsdecode(name), 120) for name in sorted(names)[:MOST_LISTED])
    return StaysBehind(shown, len(names), size)


def _files(folder: Path) -> Sequence[Path]:
    paths: list[Path] = []
    for inside, _, names in os.walk(folder):
        paths += [Path(inside) / name for name in names]
        if len(paths) > MOST_LOOKED_AT:
            break
    return paths

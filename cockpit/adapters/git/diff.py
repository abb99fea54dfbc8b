"""Compare a worktree with a commit: counts, new files and text, all limited.

Runs none of the repository's programs: no external diff, no text conversion, no filter. If only
such a program could determine the result, the result is unknown.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from cockpit.adapters.git.facts import GitFactFinder
from cockpit.adapters.git.filters import repository_filters
from cockpit.core.errors import CockpitError, Failed, ProgramMissing
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import ChangedFile, Diff

LARGEST = 400_000
"""Maximum bytes of a diff's text."""
MOST_FILES = 500
"""Maximum number of changed files, and of untracked files."""
LARGEST_LIST = 1_000_000
DEADLINE = 20.0

_ALONE = (
    "diff", "--no-ext-diff",
    "--no-textconv", "--no-color", "--no-relative", "--find-renames",
    "-l200", f"-O{os.devnull}", "--submodule=short",
    "--ignore-submodules=dirty",
)  # fmt: skip
"""The command `git diff`, with options that override the repository's own settings."""
_TEXT = ("--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
_UNTRACKED = (
    "ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z",
)  # fmt: skip


class GitDiff:
    """Compares a worktree with a commit."""

    def __init__(self, look: GitFactFinder) -> None:
        self._look = look
        self._command = look.command

    async def of(self, directory: Path, since_commit: str | None) -> Diff:
        """Return the diff between `since_commit` and the directory's files.

        Compares with HEAD if this repository does not have the commit, and with the empty tree if
        there is no HEAD. Raises only `ProgramMissing`; `Diff.unknown` has any other error.
        """
        try:
            return await self._of(directory, since_commit)
        except ProgramMissing:
            raise
        except CockpitError as error:
            return Diff(unknown=safe_line(f"{error.title}. {error.detail}", 300))

    async def _of(self, directory: Path, since_commit: str | None) -> Diff:
        places = await self._command.places(directory)
        if places is None or places.top is None:
            return Diff(unknown="The directory is not in a git worktree.")
        root = places.top
        if filters := await repository_filters(self._command, root):
            return Diff(
                unknown=f"The repository's configuration defines filter programs"
                f" ({', '.join(filters)}), and cockpit does not run them. To allow a filter, define"
                " it in your own configuration: git config --global filter.NAME.clean COMMAND"
            )
        base = await self._base(root, since_commit)
        tree = base or await self._nothing(root)
        counts, new, text = await asyncio.gather(
            self._begin(root, *_ALONE, "--numstat", "-z", tree, "--", most=LARGEST_LIST),
            self._begin(root, *_UNTRACKED, most=LARGEST_LIST),
            self._begin(root, *_ALONE, *_TEXT, "--patch", tree, "--", most=LARGEST),
        )
        files, untracked = _counted(counts[0]), _named(new[0])
        return Diff(
            base=base,
            files=tuple(files[:MOST_FILES]),
            untracked=tuple(untracked[:MOST_FILES]),
            text=_whole_lines(text[0], cut=text[1]),
            cut=counts[1] or new[1] or text[1] or max(len(files), len(untracked)) > MOST_FILES,
        )

    async def _base(self, root: Path, since_commit: str | None) -> str | None:
        if since_commit and await self._look.known(root, since_commit):
            return since_commit
        return await self._look.head(root)

    async def _nothing(self, root: Path) -> str:
        """Return the hash of the empty tree, in the repository's hash algorithm."""
        answer = await self._command.run(root, "hash-object", "-t", "tree", "--stdin")
        return answer.line

    async def _begin(self, root: Path, *arguments: str, most: int) -> tuple[bytes, bool]:
        answer = await self._command.run_limited(root, *arguments, most=most, deadline=DEADLINE)
        if not answer.ok:
            raise Failed(
                f"git {arguments[0]} failed with exit code {answer.status}",
                hint="To see git's message, run git status in the worktree.",
            )
        return answer.output, answer.cut


def _counted(output: bytes) -> list[ChangedFile]:
    """Parse `added TAB removed TAB path NUL`; a renamed file has an empty path, then two paths."""
    fields = iter(output.split(b"\0")[:-1])
    files = []
    for field in fields:
        added, _, rest = field.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        name = _shown(path)
        if not path:
            name = f"{_shown(next(fields, b''))} → {_shown(next(fields, b''))}"
        files.append(ChangedFile(name, _number(added), _number(removed)))
    return files


def _number(written: bytes) -> int | None:
    return int(written) if written.isdigit() else None


def _named(output: bytes) -> list[str]:
    return [_shown(name) for name in output.split(b"\0")[:-1]]


def _shown(name: bytes) -> str:
    return safe_line(name.decode("utf-8", "replace"), 300)


def _whole_lines(text: bytes, *, cut: bool) -> str:
    if cut:
        text = text[: text.rfind(b"\n") + 1]
    return text.decode("utf-8", "replace")

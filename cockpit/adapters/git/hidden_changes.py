"""Count changed files that the index tells git to ignore (`assume-unchanged`, `skip-worktree`).

The repository's own index is not changed: git uses a copy of the index in another folder.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.scratch import scratch

AT_ONCE = 200
"""Maximum names on one git command line."""
LISTING = ("ls-files", "-v", "-z")
"""The git command whose output `commands` parses."""


def commands(listed: bytes, where: Path) -> Iterator[tuple[str, ...]]:
    """Yield the arguments of the git calls that clear `assume-unchanged` and `skip-worktree`.

    `listed` is git's output for `LISTING`. A file that is not checked out, as in a sparse checkout,
    keeps its flag `skip-worktree`.
    """
    entries = [entry.partition(" ") for entry in os.fsdecode(listed).split("\0")]
    assumed = [name for tag, _, name in entries if tag.islower()]
    skipped = [name for tag, _, name in entries if tag in ("s", "S")]
    there = [name for name in skipped if os.path.lexists(where / name)]
    for option, names in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", there)):
        for start in range(0, len(names), AT_ONCE):
            yield "update-index", option, "--", *names[start : start + AT_ONCE]


async def overlooked(command: GitCommand, directory: Path, folder: Path) -> int | None:
    """Return the number of changed files that index flags hide; None if git fails.

    `folder` is the worktree's git directory. Call this only if the repository defines no filters,
    because this call makes git run filters.
    """
    listed = await command.run(directory, *LISTING, deadline=60.0)
    arguments = await asyncio.to_thread(lambda: list(commands(listed.output, directory)))
    if not listed.ok or not arguments:
        return 0 if listed.ok else None
    async with scratch(command.private) as apart:
        await asyncio.to_thread(shutil.copy2, folder / "index", apart / "index")
        return await _differing(command, directory, apart / "index", arguments)


async def _differing(
    command: GitCommand, directory: Path, index: Path, arguments: list[tuple[str, ...]]
) -> int | None:
    variables = {"GIT_INDEX_FILE": str(index)}
    before = await _changed(command, directory, variables)
    for words in arguments:
        await command.run(directory, *words, variables=variables, deadline=60.0)
    after = await _changed(command, directory, variables)
    return None if before is None or after is None else len(after - before)


async def _changed(
    command: GitCommand, directory: Path, variables: dict[str, str]
) -> set[bytes] | None:
    answer = await command.run(
        directory,
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
        variables=variables,
        deadline=60.0,
    )
    return {entry[3:] for entry in answer.output.split(b"\0") if entry} if answer.ok else None

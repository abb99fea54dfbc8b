"""Switching off the filters that a repository's own configuration names.

A filter is a program that git runs on a file's content. One that the pilot's own configuration
names (git-lfs, mostly) is the pilot's; one in the repository's configuration may be anybody's.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.git_command import GitCommand
from cockpit.core.errors import Failed

NAMES_ONE = r"^filter\..*\.(clean|smudge|process)$"


async def own_filters(command: GitCommand, directory: Path, *places: str) -> tuple[str, ...]:
    """Names of the filters that the repository itself configures, in order.

    `places` are git's own options that say where the repository is. Raises `Failed` where it
    cannot be known: then nothing may be run that could run one.
    """
    answer = await command.run(
        directory, *places, "config", "--show-scope", "-z", "--name-only", "--get-regexp", NAMES_ONE
    )
    if answer.status not in (0, 1):
        raise Failed("It is not known which programs the repository names", answer.error)
    fields = os.fsdecode(answer.output).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return tuple(
        sorted(
            {
                key.removeprefix("filter.").rpartition(".")[0]
                for scope, key in pairs
                if scope in ("local", "worktree")
            }
        )
    )


def without(filters: tuple[str, ...]) -> dict[str, str]:
    """Variables for git under which these filters do nothing."""
    switched = [
        (f"filter.{name}.{key}", value)
        for name in filters
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
    variables = {"GIT_CONFIG_COUNT": str(len(switched))} if switched else {}
    for place, (key, value) in enumerate(switched):
        variables |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return variables

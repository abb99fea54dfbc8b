"""Describe worktrees, and what blocks removing each worktree."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.core.far_names import far_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

MEASURING = "measuring…"


class Sizes(Enum):
    """Whether the disk space of worktrees was requested, and whether it is known."""

    NOT_REQUESTED = "not requested"
    MEASURING = "measuring"
    MEASURED = "measured"


def size(tree: WorktreeStatus, sizes: Sizes) -> str:
    """Return a worktree's disk space: empty if not requested, `MEASURING` until known, a dash if it
    cannot be measured."""
    if sizes is Sizes.NOT_REQUESTED:
        return ""
    if tree.size is not None:
        text = words.disk_space(tree.size)
        return f"over {text}" if tree.size_partial else text
    measured = sizes is Sizes.MEASURED or tree.missing or tree.unlisted is not None
    return words.DASH if measured else MEASURING


def lines(tree: WorktreeStatus, now: datetime, sizes: Sizes = Sizes.NOT_REQUESTED) -> list[str]:
    """Return a worktree's description and, if cockpit created the worktree, what blocks removing
    it.

    `now` is UTC.
    """
    described = [safe_line(f"{tree.directory}  {_what(tree, now, sizes)}", 400)]
    if not tree.made:
        return described
    return described + [
        safe_line(f"    blocks removal: {obstacle.why}", 300) for obstacle in tree.obstacles
    ]


def size_lines(trees: Sequence[WorktreeStatus]) -> list[str]:
    """Return the size and the folder of each worktree, in columns."""
    sizes = [size(tree, Sizes.MEASURED) for tree in trees]
    widest = max(map(len, sizes), default=0)
    return [
        safe_line(f"{space:>{widest}}  {tree.directory}", 400)
        for space, tree in zip(sizes, trees, strict=True)
    ]


def name_of(tree: WorktreeStatus) -> str:
    """Return a worktree's name in requests: the path, after the host's name on a remote host."""
    return far_name(tree.host, tree.directory) if tree.host else tree.directory


def against(tree: WorktreeStatus, *, salvage: bool) -> list[Obstacle]:
    """Return what blocks removing a worktree; with `salvage`, except work that would be saved.

    For a worktree that cockpit did not create, returns only the first reason.
    """
    if not tree.made:
        return tree.obstacles[:1]
    return [obstacle for obstacle in tree.obstacles if not (salvage and obstacle.salvageable)]


def refusal(tree: WorktreeStatus, salvage_key: str, *, salvage: bool) -> str | None:
    """Return why a worktree cannot be removed, and the next step; None if it can be removed."""
    obstacles = against(tree, salvage=salvage)
    if not obstacles:
        return None
    if not salvage and all(obstacle.salvageable for obstacle in obstacles):
        what = "; ".join(obstacle.why for obstacle in obstacles)
        return f"{what}. {salvage_key} saves this work in git, then removes the worktree."
    first, *more = [obstacle for obstacle in obstacles if not obstacle.salvageable]
    count = f" (and {len(more)} more)" if more else ""
    return f"{first.why}{count}. {first.next}"


def question(tree: WorktreeStatus) -> str:
    """Return the confirmation text for removing a worktree, with the effects."""
    stays = f"The branch {tree.branch} is kept. " if tree.branch else ""
    saved = (
        "The worktree's git data is saved under a git ref first."
        if tree.missing
        else "The worktree's contents are saved under a git ref first, so you can restore them."
    )
    return safe_line(f"{_what_is_lost(tree)}{stays}{saved}", 400)


def _what_is_lost(tree: WorktreeStatus) -> str:
    if tree.missing:
        return "The worktree's folder is missing; git forgets the worktree. "
    losses = content(tree)
    return (
        ""
        if losses[0] == "clean" and not any(losses[1:])
        else f"The worktree contains: {_joined(losses)}. "
    )


def back_again(tree: WorktreeStatus, reference: str | None, width: int) -> list[str]:
    """Return the lines of the commands that restore a removed worktree, to run in its repository.

    `reference` is the git ref of the saved contents; None if nothing was saved. A command that is
    wider than `width` continues after a backslash, so that a shell runs a copy of the lines.
    """
    directory = PurePath(tree.directory)
    if directory.is_relative_to(tree.repository):
        directory = directory.relative_to(tree.repository)
    at = (tree.branch,) if tree.branch else ("--detach", tree.head or reference or "HEAD")
    commands: list[tuple[str, ...]] = [("git", "worktree", "add", str(directory), *at)]
    if reference:
        # Not git restore: gitattributes filters could change the bytes.
        commands = [
            ("git", "worktree", "add", "--no-checkout", str(directory), *at),
            ("cockpit", "worktrees", "restore", reference, str(directory)),
            ("git", "-C", str(directory), "reset", "-q"),
        ]
    return [line for command in commands for line in _continued(command, width)]


def _continued(command: Sequence[str], width: int) -> list[str]:
    lines, current = [], ""
    for argument in command:
        word = safe_line(shlex.quote(argument), 400)
        if current and cell_len(f"{current} {word} \\") > width:
            lines.append(f"{current} \\")
            current = f"  {word}"
        else:
            current = f"{current} {word}" if current else word
    return [*lines, current]


class Keys(NamedTuple):
    """The keys that act on a worktree, as printed on a keyboard."""

    remove: str = "x"
    save: str = "X"
    """The key that saves the worktree's contents in git, then removes the worktree."""
    stop: str = "x"
    """The key that, on the agents' screen, stops the agent that works in the worktree."""


def way_to_remove(tree: WorktreeStatus, width: int, keys: Keys, home: str) -> list[tuple[str, str]]:
    """Return how to remove a worktree, or what to do first, as texts with their roles."""
    if tree.unlisted is not None:
        return [(_next(tree, obstacle, home), "muted") for obstacle in tree.obstacles]
    if not tree.made:
        return [("not created by cockpit, so cockpit never removes it", "muted")]
    if not tree.obstacles:
        return [(f"{keys.remove} removes it", "muted")]
    first = against(tree, salvage=True)
    saved = [obstacle for obstacle in tree.obstacles if obstacle not in first]
    parts = ["to remove it, first:"] if first else []
    for obstacle in first:
        parts += _obstacle(tree, obstacle, width, home)
        if obstacle.agent:
            parts.append(
                f"  (or {keys.stop} on {safe_line(obstacle.agent, 32)} in the list of agents)"
            )
    if saved:
        then = "then " if first else ""
        parts.append(f"{then}{keys.save} saves the following in git, then removes the worktree:")
        parts += [f"· {safe_line(obstacle.why, 300)}" for obstacle in saved]
    return [(text, "muted") for text in parts]


def _obstacle(tree: WorktreeStatus, obstacle: Obstacle, width: int, home: str) -> list[str]:
    why, following = safe_line(obstacle.why, 300), _next(tree, obstacle, home)
    both = f"· {why} → {following}"
    return [both] if len(both) < width - 4 else [f"· {why}", f"  → {following}"]


def _next(tree: WorktreeStatus, obstacle: Obstacle, home: str) -> str:
    following = safe_line(obstacle.next, 400)
    return following.replace(f" {home}/", " ~/") if home and not tree.host else following


def _joined(words: Sequence[str]) -> str:
    return ", ".join(filter(None, words))


def _what(tree: WorktreeStatus, now: datetime, sizes: Sizes) -> str:
    if tree.unlisted is not None:
        return f"cannot list the worktrees: {tree.unlisted}"
    whose = tree.agent or ("cockpit" if tree.made else "not cockpit's")
    state = f" ({tree.state.replace('_', ' ')})" if tree.state else ""
    space = size(tree, sizes)
    space = f"size {space}" if space and not tree.missing else ""
    parts = [f"{whose}{state}", tree.branch or "detached", _age(tree, now), *content(tree), space]
    return ", ".join(filter(None, parts))


def content(tree: WorktreeStatus) -> list[str]:
    """Return short texts about a worktree's contents and state, for the user to read before a
    removal; texts can be empty."""
    if tree.missing:
        return ["folder missing"]
    if tree.changed is None or tree.untracked is None:
        dirty = "git status unknown"
    elif tree.changed or tree.untracked:
        hidden = f" ({tree.overlooked} hidden from git status)" if tree.overlooked else ""
        changed = (
            f"{counted(tree.changed, 'file')} changed{hidden}" if tree.changed or hidden else ""
        )
        untracked = f"{tree.untracked} untracked" if tree.untracked else ""
        dirty = ", ".join(filter(None, (changed, untracked)))
    else:
        dirty = "clean"
    alone = f"{counted(tree.alone, 'commit')} not pushed or merged" if tree.alone else ""
    behind = f"{tree.behind} behind" if tree.behind else ""
    locked = f"locked ({tree.lock or 'no reason given'})" if tree.lock is not None else ""
    return [dirty, alone, behind, tree.busy or "", locked]


def _age(tree: WorktreeStatus, now: datetime) -> str:
    seconds = words.seconds_since(tree.made_at, now)
    if seconds is None:
        return ""
    hours = int(seconds // 3600)
    if hours < 1:
        return "less than 1 h old"
    return f"{hours} h old" if hours < 48 else f"{hours // 24} days old"

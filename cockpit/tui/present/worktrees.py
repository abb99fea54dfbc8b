"""Worktrees in words: what each is, and what stands against removing it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

from cockpit.core.far_names import far_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, broken
from cockpit.wire.worktrees import Obstacle, WorktreeStatus


def lines(tree: WorktreeStatus, now: datetime) -> list[str]:
    """A worktree in lines: what it is, then what stands against removing it. `now` is UTC."""
    told = [safe_line(f"{tree.directory}  {_what(tree, now)}", 400)]
    if not tree.made:
        return told
    return told + [safe_line(f"    not removed: {one.why}", 300) for one in tree.obstacles]


def name_of(tree: WorktreeStatus) -> str:
    """What it is asked for by: its path, with its host before it where that is another machine."""
    return far_name(tree.host, tree.directory) if tree.host else tree.directory


def against(tree: WorktreeStatus, *, salvage: bool) -> list[Obstacle]:
    """What stands against removing it; what `salvage` keeps does not then."""
    if not tree.made:
        return tree.obstacles[:1]
    return [one for one in tree.obstacles if not (salvage and one.salvageable)]


def refusal(tree: WorktreeStatus, salvage_key: str, *, salvage: bool) -> str | None:
    """Why it cannot be removed, and what may be done, in sentences; None where it can."""
    standing = against(tree, salvage=salvage)
    if not standing:
        return None
    if not salvage and all(one.salvageable for one in standing):
        what = "; ".join(one.why for one in standing)
        return f"{what}. {salvage_key} keeps all of that in git, and removes it then."
    first, *more = [one for one in standing if not one.salvageable]
    count = f" ({len(more)} more beside it)" if more else ""
    return f"{first.why}{count}. {first.next}"


def question(tree: WorktreeStatus) -> str:
    """What happens if it is removed."""
    stays = f"Its branch {tree.branch} stays. " if tree.branch else ""
    return safe_line(
        f"{_what_is_lost(tree)}{stays}What is in it is kept under a reference in git first, so "
        "that it can be had back.",
        400,
    )


def _what_is_lost(tree: WorktreeStatus) -> str:
    if tree.missing:
        return "Its folder is gone already: git forgets it. "
    words = _content(tree)
    return "" if words[0] == "clean" and not any(words[1:]) else f"It holds: {_joined(words)}. "


def back_again(tree: WorktreeStatus, reference: str | None) -> list[str]:
    """How a removed one is had back, as commands."""
    there = f"On {tree.host}: " if tree.host else ""
    repository, directory = shlex.quote(tree.repository), shlex.quote(tree.directory)
    at = shlex.quote(tree.branch) if tree.branch else f"--detach {tree.head or reference or 'HEAD'}"
    found = [f"{there}git -C {repository} worktree add {directory} {at}"]
    if reference:
        found.append(f"{there}git -C {directory} restore --source {shlex.quote(reference)} .")
    return [safe_line(one, 600) for one in found]


def drawn(
    tree: WorktreeStatus,
    now: datetime,
    width: int,
    said: Sequence[Span] = (),
    key: str = "x",
    home: str = "",
) -> list[list[Span]]:
    """One of them for a width: what it is, how to remove it or what is to be done first.

    `said` is what is done with it just now, or why that was refused, and takes the place of that.
    """
    there = f"{safe_line(tree.host, 32)}:" if tree.host else ""
    parts = [
        (f"{there}{short_path(tree.directory, '' if tree.host else home)}", "name"),
        (safe_line(_what(tree, now), 400), ""),
    ]
    if said:
        parts += [(text, role) for text, role in said]
    elif not tree.made:
        parts += [("cockpit has not made it, and never removes it", "muted")]
    elif tree.obstacles:
        parts += [("before it is removed:", "muted")]
        for one in tree.obstacles:
            parts += [(text, "muted") for text in _obstacle(tree, one, width, home)]
    else:
        parts += [(f"{key} removes it", "muted")]
    indents = (" ", *("   " for _ in parts[1:]))
    return [
        [Span(f"{indent}{piece}", role)]
        for indent, (text, role) in zip(indents, parts, strict=True)
        for piece in broken(text, max(1, width - len(indent))) or [""]
    ]


def _obstacle(tree: WorktreeStatus, one: Obstacle, width: int, home: str) -> list[str]:
    why, following = safe_line(one.why, 300), safe_line(one.next, 400)
    if home and not tree.host:
        following = following.replace(f" {home}/", " ~/")
    both = f"· {why} → {following}"
    return [both] if len(both) < width - 4 else [f"· {why}", f"  → {following}"]


def _joined(words: Sequence[str]) -> str:
    return ", ".join(filter(None, words))


def _what(tree: WorktreeStatus, now: datetime) -> str:
    whose = tree.agent or ("cockpit" if tree.made else "not cockpit's")
    state = f" ({tree.state.replace('_', ' ')})" if tree.state else ""
    words = [f"{whose}{state}", tree.branch or "detached", _age(tree, now), *_content(tree)]
    return ", ".join(filter(None, words))


def _content(tree: WorktreeStatus) -> list[str]:
    if tree.missing:
        return ["its folder is gone"]
    if tree.changed is None or tree.untracked is None:
        dirty = "not known how dirty"
    elif tree.changed or tree.untracked:
        told = f" ({tree.overlooked} that git was told not to look at)" if tree.overlooked else ""
        changed = f"{counted(tree.changed, 'file')} changed{told}" if tree.changed or told else ""
        untracked = f"{tree.untracked} untracked" if tree.untracked else ""
        dirty = ", ".join(filter(None, (changed, untracked)))
    else:
        dirty = "clean"
    alone = f"{counted(tree.alone, 'commit')} nowhere else" if tree.alone else ""
    behind = f"{tree.behind} behind" if tree.behind else ""
    locked = f"locked ({tree.lock or 'no reason given'})" if tree.lock is not None else ""
    return [dirty, alone, behind, tree.busy or "", locked]


def _age(tree: WorktreeStatus, now: datetime) -> str:
    if tree.made_at is None:
        return ""
    hours = max(0, int((now - datetime.fromisoformat(tree.made_at)).total_seconds() // 3600))
    if hours < 1:
        return "less than 1 h old"
    return f"{hours} h old" if hours < 48 else f"{hours // 24} days old"

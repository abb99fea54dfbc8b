"""Worktrees in words: what each is, and what stands against removing it."""

from __future__ import annotations

from datetime import datetime

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, broken
from cockpit.wire.worktrees import WorktreeStatus


def lines(tree: WorktreeStatus, now: datetime) -> list[str]:
    """A worktree in lines: what it is, then what stands against removing it. `now` is UTC."""
    told = [safe_line(f"{tree.directory}  {_what(tree, now)}", 400)]
    if not tree.made:
        return told
    return told + [safe_line(f"    not removed: {one.why}", 300) for one in tree.obstacles]


def drawn(
    trees: list[WorktreeStatus], now: datetime, width: int, home: str = ""
) -> list[list[Span]]:
    """All of them for a width, each with how to remove it, or with what is to be done first."""
    if not trees:
        return [[Span("  No worktrees. start --worktree gives an agent one of its own.", "muted")]]
    found: list[list[Span]] = []
    for tree in trees:
        found += _drawn(tree, now, width, home)
        found.append([])
    return found[:-1]


def _drawn(tree: WorktreeStatus, now: datetime, width: int, home: str) -> list[list[Span]]:
    there = f"{safe_line(tree.host, 32)}:" if tree.host else ""
    parts = [
        (f"{there}{short_path(tree.directory, '' if tree.host else home)}", "name"),
        (safe_line(_what(tree, now), 400), ""),
    ]
    if tree.made and tree.obstacles:
        parts += [("before it is removed:", "muted")]
    for one in tree.obstacles if tree.made else ():
        why, following = safe_line(one.why, 300), safe_line(one.next, 400)
        if home and not tree.host:
            following = following.replace(f" {home}/", " ~/")
        both = f"· {why} → {following}"
        alone = [f"· {why}", f"  → {following}"]
        parts += [(text, "muted") for text in ([both] if len(both) < width - 4 else alone)]
    if tree.made and not tree.obstacles:
        at = f" --host {safe_line(tree.host, 32)}" if tree.host else ""
        command = f"cockpit worktrees remove {safe_line(tree.directory)}{at}"
        parts += [(f"to remove it: {command}", "muted")]
    indents = (" ", *("   " for _ in parts[1:]))
    return [
        [Span(f"{indent}{piece}", role)]
        for indent, (text, role) in zip(indents, parts, strict=True)
        for piece in broken(text, max(1, width - len(indent))) or [""]
    ]


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
        return "made just now"
    return f"{hours} h old" if hours < 48 else f"{hours // 24} days old"

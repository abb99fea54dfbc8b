"""Every state of an agent is assigned in one place; others ask for it, or call a method of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import cockpit
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.troubles import Troubles

ROOT = Path(cockpit.__file__).parent / "supervisor"
OWNERS = {
    "progress": ("handoff/", "agents/handoff_progress.py"),
    "start": ("sessions/",),
    "troubles.failed": ("agents/troubles.py",),
    "troubles.writing": ("observe/disk_monitor.py",),
    "troubles.dialog": ("observe/hook_reports.py", "observe/status_files.py", "sessions/start.py"),
    "troubles.worktree": ("observe/worktree_monitor.py", "sessions/worktrees.py"),
    "troubles.interrupted": ("sessions/interruptions.py",),
    "troubles.stop_unwritten": ("sessions/stop.py",),
    "troubles.shared": ("sessions/lifecycle.py", "sessions/session_changes.py"),
    "troubles.hooks": ("agents/troubles.py",),
    "compaction": ("agents/", "observe/compaction.py"),
    "reading": ("agents/", "observe/transcripts.py"),
    "session_state": (
        "agents/",
        "observe/",
        "sessions/lifecycle.py",
        "sessions/session_changes.py",
    ),
    "agent.record": ("agents/agent.py", "sessions/"),
    "agent.settings": ("agents/",),
    "agent.runtime": ("agents/fleet.py", "sessions/"),
    "agent.environment": ("sessions/",),
    "agent.job": ("agents/fleet.py", "sessions/"),
    "agent.session": ("agents/", "sessions/", "handoff/outcome.py"),
    "agent.chain": ("agents/",),
    # Counted from the database at a start; one more for each that is confirmed or arrives.
    "agent.handoffs": (
        "agents/fleet.py",
        "handoff/outcome.py",
        "history/arrived_chain.py",
        "sessions/",
    ),
    "agent.copy_costs": ("agents/",),
    "agent.process": ("sessions/lifecycle.py", "sessions/reattach.py"),
    # A process ends by itself, is found to have ended, or is ended for a stop or a move.
    "agent.exit": (
        "agents/agent.py",
        "handoff/outcome.py",
        "process_ends.py",
        "restoration.py",
        "sessions/",
    ),
    "agent.clock_offset": ("observe/agent_clock.py",),
    "agent.must_reconsider": ("agents/agent.py", "handoff/outcome.py", "reactions.py"),
    "agent.marked_done_at": ("agents/agent.py", "api/verbs/finish.py", "sessions/reattach.py"),
    "agent.notified": ("agents/fleet.py",),
    "agent.last_request": ("api/last_requests.py",),
    "agent.lost_pane": ("process_ends.py",),
}
"""The state, or one field of it, and which files of `supervisor/` assign it."""


CHANGES = {
    *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"),
    *("setdefault", "update"),
}
"""Methods that change a list, a dictionary or a set."""


def dotted(node: ast.expr, aliases: dict[str, str]) -> str | None:
    """`object.field` of an expression such as `agent.troubles.failed`, or what its name stands for.

    An alias is followed: after `troubles = agent.troubles`, `troubles.failed` is the same.
    """
    if not isinstance(node, ast.Attribute):
        return None
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return f"{aliases.get(name, name)}.{node.attr}"


def assigned(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """What is assigned or changed, as `object.field`, and on which line."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    aliases[target.id] = node.value.attr
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                held: ast.expr = node
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                held = node.value
            case ast.Call(func=ast.Attribute(attr=method, value=changed)) if method in CHANGES:
                held = changed
            case ast.Call(
                func=ast.Name(id="setattr"), args=[target, ast.Constant(value=str(field)), *_]
            ):
                held = ast.Attribute(target, field)
            case _:
                continue
        if (name := dotted(held, aliases)) is not None:
            yield name, node.lineno


def trespassers(root: Path) -> Iterator[str]:
    """Assignments of an owned state in a file that does not own it."""
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        for state, line in assigned(ast.parse(path.read_text(encoding="utf-8"))):
            owners = OWNERS.get(state) or OWNERS.get(state.split(".")[0])
            if owners and not place.startswith(owners):
                yield f"{place}:{line} assigns {state}"


def test_each_state_is_assigned_by_its_owner_only() -> None:
    assert list(trespassers(ROOT)) == []


@pytest.mark.parametrize(
    "line",
    [
        "agent.progress.failed = None",
        "agent.start.setup, other = None, 1",
        "agent.troubles.writing = 'full'",
        "agent.troubles.hooks['x'] = 'failed'",
        "self.agent.session_state.model = None",
        "agent.record = replace(agent.record, pid=None)",
        "agent.session_state.compaction.passed += 1",
        "agent.troubles.failed.clear()",
        "del agent.troubles.failed['x']",
        "setattr(agent.progress, 'failed', None)",
        "troubles = agent.troubles; troubles.writing = 'full'",
        "for agent.exit in exits: pass",
        "with file as agent.troubles.dialog: pass",
    ],
)
def test_a_planted_assignment_is_noticed(tmp_path: Path, line: str) -> None:
    (tmp_path / "view").mkdir()
    (tmp_path / "view" / "rows.py").write_text(line)
    (found,) = trespassers(tmp_path)
    assert found.startswith("view/rows.py:1 assigns ")


def test_the_table_names_files_that_are_there() -> None:
    for owners in OWNERS.values():
        for owner in owners:
            assert (ROOT / owner).exists(), owner


def test_every_state_of_an_agent_has_an_owner() -> None:
    states = {field.name for field in fields(Agent)}
    owned = {state.removeprefix("agent.").split(".")[0] for state in OWNERS}
    assert states - owned == set()
    troubles = {f"troubles.{field.name}" for field in fields(Troubles)}
    assert troubles - set(OWNERS) == set()

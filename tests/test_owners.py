"""Every state of an agent is assigned in one place; others ask for it, or call a method of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cockpit

ROOT = Path(cockpit.__file__).parent / "supervisor"
OWNERS = {
    "progress": ("handoff/", "agents/handoff_progress.py"),
    "start": ("sessions/",),
    "troubles.failed": (
        "observe/",
        "sessions/repair.py",
        "sessions/first_prompts.py",
        "supervisor.py",
        "restoration.py",
        "handoff/open_handoffs.py",
    ),
    "troubles.writing": ("observe/disk_monitor.py",),
    "troubles.dialog": ("observe/hook_reports.py", "observe/status_files.py", "sessions/start.py"),
    "troubles.worktree": ("observe/worktree_monitor.py", "sessions/worktrees.py"),
    "troubles.interrupted": ("sessions/interruptions.py",),
    "troubles.stop_unwritten": ("sessions/stop.py",),
    "troubles.hooks": ("outbound/",),
    "compaction": ("agents/", "observe/compaction.py"),
    "reading": ("agents/", "observe/transcripts.py"),
    "session_state": (
        "agents/",
        "observe/",
        "sessions/lifecycle.py",
        "sessions/session_changes.py",
    ),
    "agent.record": ("agents/agent.py", "sessions/lifecycle.py"),
    "agent.session": ("agents/", "sessions/", "handoff/"),
    "agent.process": ("sessions/",),
    "agent.last_request": ("api/last_requests.py",),
    "agent.lost_pane": ("process_ends.py",),
}
"""The state, or one field of it, and which files of `supervisor/` assign it."""


def assigned(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """What is assigned, as `object.field`, and on which line."""
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        for target in (each for one in targets for each in ast.walk(one)):
            if not isinstance(target, ast.Attribute | ast.Subscript):
                continue
            held = target.value if isinstance(target, ast.Subscript) else target
            if not isinstance(held, ast.Attribute):
                continue
            owner = held.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if isinstance(held.ctx, ast.Store) or isinstance(target, ast.Subscript):
                yield f"{name}.{held.attr}", target.lineno


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

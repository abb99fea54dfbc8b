"""Files whose path an agent or a repository can name are opened by one module only.

Read from the syntax tree: a plain `open`, `read_text` or the like anywhere in the supervisor, the
adapters or the configuration turns this red, unless the file and the reason stand in the table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "cockpit"
FLOORS = ("adapters", "cli", "config", "supervisor")

MODULES_WITH_OPEN = {"gzip", "io", "os", "codecs", "tokenize", "bz2", "lzma", "builtins"}
SHUTIL = {"copyfile", "copy", "copy2", "copytree", "copyfileobj"}
ON_THE_LOOP = {"is_file", "is_dir", "exists", "stat", "lstat", "glob", "iterdir", "samefile"}
"""Looks at a path that block: in the supervisor they go through `slow` or a thread."""

MAY_OPEN = {
    "adapters/files/foreign_files.py": "it is the one module",
    "adapters/agents/claude/offer_hook.py": "makes its own file",
    "adapters/agents/claude/plugin.py": "files of the package, and its copy in our state folder",
    "adapters/agents/own/companion.py": "/dev/null",
    "adapters/agents/own/definitions.py": "our state folder",
    "adapters/agents/own/follower.py": "not blocking, and checked to be a file, in its own process",
    "adapters/agents/opencode/plugin.py": "a file of the package, and its copy in our state folder",
    "adapters/agents/reporter.py": "writes our own files; reads the package's reporter",
    "adapters/git/arriving_worktree.py": "a bundle that cockpit wrote to its own folder",
    "adapters/git/copied_files.py": "copies what the user listed, on a thread, after a look",
    "adapters/documents/files.py": "our own copies; foreign ones go through the module",
    "adapters/host_setup/installation.py": "scripts of the package",
    "adapters/host_setup/probe.py": "a script of the package",
    "adapters/host_setup/question.py": "a script of the package",
    "adapters/host_setup/wheel.py": "files of the package",
    "adapters/process/descriptors.py": "/dev/null",
    "adapters/process/environments.py": "our state folder",
    "adapters/files/bounded_copy.py": "folders without following a link, and its own copies",
    "adapters/files/file_system.py": "opens folders only, to sync them",
    "adapters/files/folder_size.py": "opens folders only, to list them, without following a link",
    "adapters/git/worktrees.py": "the exclude file: neither blocking nor following a link",
    "adapters/git/worktree_folders.py": "copies git's index",
    "adapters/git/restore.py": "makes its own files, and overwrites none",
    "adapters/git/removal_record.py": "forces its own file to the disk",
    "adapters/files/guarded_folder.py": "folders step by step, and files it makes itself",
    "adapters/process/free_resources.py": "/proc",
    "adapters/process/hook_shell.py": "makes its own file",
    "adapters/transcripts/copies.py": "our own compressed copies",
    "adapters/process/launcher.py": "our own launch order, and the lease",
    "adapters/process/leases.py": "a lock, not blocking and not read as text",
    "adapters/files/private_file.py": "makes its own file",
    "adapters/process/open_files.py": "/proc",
    "adapters/process/process_table.py": "/proc",
    "adapters/process/terminals.py": "/dev: a terminal, not blocking, and checked to be the user's",
    "adapters/store/database_file.py": "our database",
    "adapters/tmux/server.py": "our state folder",
    "adapters/hooks/responses.py": "makes its own file",
    "cli/move_lock.py": "our own lock file, in our state folder",
    "cli/move_machines.py": "a bundle in a temporary folder of our own",
    "cli/move_steps.py": "bundles and records in our state folder",
    "cli/startup_output.py": "our own log",
    "cli/coerced_locale.py": "/proc",
    "cli/supervisor_process.py": "our lock and our log",
    "cli/doctor_setup.py": "/proc and our lock",
    "cli/service.py": "the user's own unit file",
    "cli/output.py": "/dev/null",
    "config/file.py": "opens without blocking and checks the kind itself: config is a floor below",
    "config/layers.py": "the prompt file, without blocking too",
    "config/paths.py": "our own folders",
    "config/project.py": "not blocking, and checked to be a file",
    "config/trust.py": "our state folder",
    "config/write.py": "the user's own file, in the user's own process",
    "supervisor/main.py": "our lock and our log",
    "supervisor/sessions/setup.py": "a setup's output in our state folder, on a thread",
}
"""A file -> why its plain opens lead to no path that an agent or a repository names."""

MAY_LOOK = {
    "supervisor/handoff/integrity.py": 1,
    "supervisor/sessions/continuation.py": 3,
    "supervisor/agents/fleet.py": 2,
    "supervisor/outbound/hook_payloads.py": 1,
    "supervisor/history/rebuild.py": 1,
    "supervisor/api/socket.py": 2,  # our own socket, in the folder that it is bound in
    "supervisor/sessions/automatic_starts.py": 1,
}
"""A file of the supervisor -> how many plain looks it has. Those at foreign paths only go down."""


def opens(tree: ast.AST) -> Iterator[int]:
    """The lines with a call that opens a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _opens_file(node):
            yield node.lineno


def _opens_file(node: ast.Call) -> bool:
    """`open(…)`, `os.open(…)`, `path.open("rb")`, `path.open()`; not `sessions.open(agent, …)`."""
    if isinstance(node.func, ast.Name):
        return node.func.id == "open"
    if not isinstance(node.func, ast.Attribute):
        return False
    name = node.func.attr
    owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    if name in ("read_text", "read_bytes"):
        # Of the one module they are functions, and are called by their own name.
        return True
    if owner == "shutil":
        return name in SHUTIL
    first = node.args[0] if node.args else None
    is_mode = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return name == "open" and (owner in MODULES_WITH_OPEN or first is None or is_mode)


def looks(tree: ast.AST) -> Iterator[int]:
    """The lines with a call that looks at a path and may block."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ON_THE_LOOP:
            yield node.lineno  # type: ignore[attr-defined]


def found(house: Path) -> list[str]:
    """Every open outside of the table."""
    return [
        f"{file}:{line}: opens a file; use adapters/files/foreign_files.py, or say in the table why"
        for file, tree in _files(house, FLOORS)
        if file not in MAY_OPEN
        for line in opens(tree)
    ]


def _files(house: Path, floors: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    for floor in floors:
        for path in sorted((house / floor).rglob("*.py")):
            file = path.relative_to(house).as_posix()
            yield file, ast.parse(path.read_text(encoding="utf-8"), file)


def test_foreign_files_are_opened_by_one_module() -> None:
    assert found(HOUSE) == []


def test_the_table_names_only_files_that_open_something() -> None:
    opening = {file for file, tree in _files(HOUSE, FLOORS) if any(opens(tree))}
    assert set(MAY_OPEN) - opening == set()


def test_the_supervisor_looks_at_paths_off_its_loop() -> None:
    counted = {file: len(list(looks(tree))) for file, tree in _files(HOUSE, ("supervisor",))}
    assert {file: number for file, number in counted.items() if number} == MAY_LOOK


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "path.open('rb')",
        "path.open()",
        "Path(x).read_text()",
        "x.read_bytes()",
        "os.open(path, os.O_RDONLY)",
        "gzip.open(path)",
        "shutil.copy2(a, b)",
    ],
)
def test_a_plain_open_is_found(line: str, tmp_path: Path) -> None:
    for floor in FLOORS:
        (tmp_path / floor).mkdir()
    (tmp_path / "adapters" / "new.py").write_text(f"def f():\n    return {line}\n")
    assert found(tmp_path)[0].startswith("adapters/new.py:2: ")


def test_starting_a_session_opens_no_file(tmp_path: Path) -> None:
    for floor in FLOORS:
        (tmp_path / floor).mkdir()
    (tmp_path / "supervisor" / "new.py").write_text("sessions.open(seat, session, None)\n")
    assert found(tmp_path) == []

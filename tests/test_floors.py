"""The house has floors, and no staircase that is not on the plan.

Read from the syntax tree, so a deferred import counts as much as one at the top. The tables
here are the plan; `cockpit/ARCHITECTURE.md` says why each door is missing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_foreign_opens import found as plain_opens

HOUSE = Path(__file__).parent.parent / "cockpit"

MAY_IMPORT = {
    "core": {"core"},
    "ports": {"core", "ports"},
    "wire": {"core", "wire"},
    "config": {"core", "config"},
    "client": {"core", "wire", "config", "client"},
    "adapters": {"core", "ports", "config", "adapters"},
    "supervisor": {"core", "ports", "wire", "config", "adapters", "supervisor"},
    "tui": {"core", "wire", "config", "client", "tui"},
    "demo": {"core", "ports", "wire", "config", "client", "adapters", "demo"},
    "cli": {
        "core", "ports", "wire", "config", "client", "adapters", "supervisor", "tui", "demo", "cli",
    },
}  # fmt: skip
"""A floor's name -> the floors it may import; a new folder has to be put here first."""

ROOMS = {
    "supervisor": (
        "events", "lifetime", "loops", "dependencies", "agents", "outbound", "sessions", "handoff",
        "observe", "history", "view", "api", "process_ends", "restoration", "reactions",
        "supervisor", "serving", "main",
    ),
    "adapters": (
        "files", "process", "clock", "hooks", "transcripts", "documents", "git", "tmux", "agents",
        "outgoing", "service", "browser", "store", "multiplex_pump", "remote_host", "kept_host",
        "host_setup", "tool_server",
    ),
    "tui": (
        "terminal", "state", "keys", "present", "widgets", "screens", "reload", "app", "pictures",
    ),
}  # fmt: skip
"""A floor's folders and files from the lowest: each may import those before it, and itself."""

ONLY_IN = {
    "textual": ("tui/",),
    "rich": ("tui/",),
    "pygments": ("tui/present/syntax.py",),
    "libtmux": ("adapters/tmux",),
    "claude_agent_sdk": ("adapters/",),
    "mcp": ("adapters/",),
    "sqlite3": ("adapters/store/", "adapters/agents/opencode/stored_session.py"),
    "pydantic": ("wire/", "config/", "client/", "supervisor/"),
    "h11": ("client/",),
    "httpx2": ("adapters/",),
    "apprise": ("adapters/",),
    "click": ("cli/",),
    "tomlkit": ("config/",),
    "jinja2": ("adapters/",),
    "msgspec": ("adapters/agents/claude/typed_lines.py",),
    "aiohttp": ("adapters/browser/",),
    "textual_serve": ("adapters/browser/",),
    "asyncinotify": ("adapters/files/",),
    "starlette": ("supervisor/", "demo/"),
    "uvicorn": ("supervisor/", "demo/"),
    "subprocess": ("adapters/", "cli/", "demo/"),
}
"""A library's name -> the beginnings of the paths, inside cockpit/, that may import it."""

IN_ONE_FILE = (
    "apprise", "asyncinotify", "claude_agent_sdk", "h11", "httpx2", "libtmux", "mcp",
    "msgspec",
)  # fmt: skip
"""Libraries that are known to one file only."""

NOT_IN_CORE = {
    "asyncio", "concurrent", "fcntl", "glob", "io", "logging", "multiprocessing", "os", "pathlib",
    "random", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess",
    "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
"""Doors to the world: files, clocks, chance, processes, waiting."""

CLOCK_CALLS = {"now", "utcnow", "today"}

DRAWERS = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager", "types"}


@dataclass(frozen=True)
class Import:
    """One imported module of one file."""

    file: str
    """Relative to the house, with slashes."""
    line: int
    module: str

    @property
    def floor(self) -> str:
        return self.file.split("/")[0]


def violations(house: Path) -> list[str]:
    """Everything in the house that is not as the plan has it, one line each."""
    found: list[str] = []
    known: dict[str, set[str]] = {}
    for path in sorted(house.rglob("*.py")):
        file = path.relative_to(house).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), file)
        if path.stem in DRAWERS:
            found.append(f"{file}: a drawer, not a room")
        for one in imports(tree, file):
            found.extend(_of_import(one))
            known.setdefault(one.module.split(".")[0], set()).add(file)
        if file.startswith("core/"):
            found.extend(_of_core(tree, file))
    return found + [
        f"{library} is known to more than one file: {sorted(known[library])}"
        for library in IN_ONE_FILE
        if len(known.get(library, ())) > 1
    ]


def imports(tree: ast.AST, file: str) -> Iterator[Import]:
    """Every import of a file, wherever in it, with relative ones spelled out."""
    package = ["cockpit", *file.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*up, *([node.module] if node.module else [])])
            if module == "cockpit" or (module.count(".") == 1 and module.startswith("cockpit.")):
                yield from (Import(file, node.lineno, f"{module}.{a.name}") for a in node.names)
            else:
                yield Import(file, node.lineno, module)
        elif isinstance(node, ast.Call) and _names_import(node):
            yield Import(file, node.lineno, _constant(node))


def _names_import(node: ast.Call) -> bool:
    """`importlib.import_module("x")` and `__import__("x")` are imports too."""
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    return called in ("import_module", "__import__") and bool(node.args)


def _constant(node: ast.Call) -> str:
    first = node.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"


def _of_import(one: Import) -> Iterator[str]:
    where = f"{one.file}:{one.line}"
    first, _, rest = one.module.partition(".")
    if first == "cockpit" and rest:
        yield from _of_ours(one, rest.split(".")[0], where)
    for library, allowed in ONLY_IN.items():
        if first == library and not one.file.startswith(allowed):
            yield f"{where}: {library} belongs to {', '.join(allowed)}"
    if one.floor == "core" and first != "cockpit":
        if first not in sys.stdlib_module_names:
            yield f"{where}: core knows the standard library only, not {first}"
        if NOT_IN_CORE & {first, one.module}:
            yield f"{where}: core has no door to the world, so no {first}"


def _of_ours(one: Import, target: str, where: str) -> Iterator[str]:
    if "/" not in one.file or target.startswith("__"):
        return  # cockpit/__main__.py and the like stand outside, and the version belongs to all
    if target == one.floor in ROOMS:
        yield from _of_rooms(one, where)
    allowed = MAY_IMPORT.get(one.floor)
    if allowed is None:
        yield f"{where}: the floor {one.floor} is not on the plan"
    elif target not in allowed:
        yield f"{where}: {one.floor} must not import {target}"


def _of_rooms(one: Import, where: str) -> Iterator[str]:
    order, room = ROOMS[one.floor], one.file.split("/")[1].removesuffix(".py")
    parts = one.module.split(".")
    if len(parts) < 3 or room == "__init__":
        return
    for each in (room, parts[2]):
        if each not in order:
            yield f"{where}: the room {one.floor}/{each} is not on the plan"
            return
    if order.index(parts[2]) > order.index(room):
        yield f"{where}: {room} must not import {parts[2]}, which is above it"


def _of_core(tree: ast.AST, file: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await):
            yield f"{file}:{node.lineno}: core does not wait"
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("open", "print", "input"):
                yield f"{file}:{node.lineno}: core does no input or output"
            if isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_CALLS:
                yield f"{file}:{node.lineno}: core does not know what time it is"


def test_the_house_is_as_planned() -> None:
    assert violations(HOUSE) == []


def test_foreign_files_are_opened_by_one_module() -> None:
    """The table of those that may open others is in `test_foreign_opens.py`."""
    assert plain_opens(HOUSE) == []


def test_every_floor_is_on_the_plan() -> None:
    rooms = {path.name for path in HOUSE.iterdir() if any(path.glob("*.py"))}
    assert rooms <= set(MAY_IMPORT)


PLANTED = {
    "core/a.py": ("def f():\n    import textual\n", "textual belongs to tui/"),
    "core/b.py": ("import os\n", "no door to the world"),
    "core/c.py": ("import httpx\n", "standard library only"),
    "core/d.py": ("async def f(): ...\n", "does not wait"),
    "core/e.py": ("from datetime import datetime\nx = datetime.now()\n", "what time it is"),
    "core/f.py": ("x = open('y')\n", "no input or output"),
    "core/g.py": ("from ..wire import status\n", "core must not import wire"),
    "wire/a.py": ("from cockpit.config import schema\n", "wire must not import config"),
    "wire/utils.py": ("", "a drawer"),
    "client/a.py": ("from cockpit import adapters\n", "client must not import adapters"),
    "adapters/a.py": ("import cockpit.wire.status\n", "adapters must not import wire"),
    "supervisor/a.py": ("from cockpit.tui import app\n", "supervisor must not import tui"),
    "supervisor/b.py": (
        "import importlib\nimportlib.import_module('cockpit.tui.app')\n",
        "supervisor must not import tui",
    ),
    "tui/a.py": (
        "def f():\n    from cockpit.supervisor import main\n",
        "tui must not import superv",
    ),
    "tui/b.py": ("import subprocess\n", "subprocess belongs to"),
    "supervisor/sessions/a.py": (
        "from cockpit.supervisor.handoff.engine import Engine\n",
        "sessions must not import handoff, which is above it",
    ),
    "supervisor/observe/c.py": (
        "from cockpit.supervisor.view.rows import row\n",
        "observe must not import view, which is above it",
    ),
    "supervisor/history/d.py": (
        "from cockpit.supervisor.view.rows import row\n",
        "history must not import view, which is above it",
    ),
    "supervisor/handoff/b.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from cockpit.supervisor import supervisor\n",
        "handoff must not import supervisor, which is above it",
    ),
    "adapters/files/c.py": (
        "def f():\n    import cockpit.adapters.git.command\n",
        "files must not import git, which is above it",
    ),
    "tui/widgets/d.py": ("from cockpit.tui.screens import help\n", "must not import screens"),
    "supervisor/attic/e.py": (
        "from cockpit.supervisor.agents import agent\n",
        "room supervisor/attic is not on the plan",
    ),
    "cellar/a.py": ("import cockpit.core.ids\n", "not on the plan"),
}


@pytest.mark.parametrize("file", PLANTED)
def test_a_staircase_is_found(file: str, tmp_path: Path) -> None:
    text, complaint = PLANTED[file]
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)

    found = violations(tmp_path)

    assert any(complaint in line for line in found), found


def test_a_library_of_one_file_is_found_in_a_second(tmp_path: Path) -> None:
    (tmp_path / "adapters").mkdir()
    for name in ("one", "two"):
        (tmp_path / "adapters" / f"{name}.py").write_text("import claude_agent_sdk\n")

    assert "more than one file" in violations(tmp_path)[0]


def test_a_house_in_order_has_nothing_to_find(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text("import re\nfrom cockpit import __version__\n")

    assert violations(tmp_path) == []

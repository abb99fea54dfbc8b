"""A wheel brings what the product imports: every library is one of the declared dependencies."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = {"pydantic_core": "pydantic"}
"""Modules that come only with another library, and are described as a part of it."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def declared() -> set[str]:
    """The distributions that an installation brings, without the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = (_NAME.match(line) for line in project["dependencies"])
    return {name.group().lower() for name in names if name}


def imported(folder: Path) -> dict[str, str]:
    """The top-level modules that are imported, each with a file that does."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                found.setdefault(name.partition(".")[0], str(path.relative_to(ROOT)))
    return found


def libraries() -> dict[str, tuple[set[str], str]]:
    """The libraries of the product: their distributions, and a file that imports them."""
    distributions = packages_distributions()
    return {
        module: ({name.lower() for name in distributions.get(PARTS.get(module, module), [])}, file)
        for module, file in imported(ROOT / "cockpit").items()
        if module not in sys.stdlib_module_names and module != "cockpit"
    }


def test_every_library_that_the_product_imports_is_installed_with_it() -> None:
    missing = {
        module: file for module, (names, file) in libraries().items() if not names & declared()
    }
    assert missing == {}


def test_every_dependency_is_imported() -> None:
    used = {name for names, _ in libraries().values() for name in names}
    assert declared() - used == set()

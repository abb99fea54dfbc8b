"""Whether a commit can be released.

The tree is clean, and its version has a dated section in the change log, recorded flights and no
tag.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path

_VERSION = re.compile(r'^__version__ = "([^"]*)"$', re.MULTILINE)
_RELEASE = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """One version in the change log."""

    version: str
    note: str
    """What is in parentheses after the version: the date, or that there is none yet."""
    text: str

    @property
    def dated(self) -> bool:
        try:
            return date.fromisoformat(self.note).isoformat() == self.note
        except ValueError:
            return False


def version(tree: Path) -> str:
    """Return `__version__` of the package, or "" if it has none. Imports nothing."""
    found = _VERSION.search((tree / "cockpit" / "__init__.py").read_text(encoding="utf-8"))
    return found[1] if found else ""


def sections(tree: Path) -> list[Section]:
    """Return the versions in CHANGELOG.md, the first one first."""
    _, *parts = _HEADING.split((tree / "CHANGELOG.md").read_text(encoding="utf-8"))
    found = []
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        name, _, note = heading.strip().partition(" ")
        found.append(Section(name, note.removeprefix("(").removesuffix(")"), text.strip()))
    return found


def problems(tree: Path) -> list[str]:
    """Return why the tree cannot be released, each with what to do; empty if it can."""
    return [*_of_tree(tree), *_of_version(tree)]


def _of_tree(tree: Path) -> list[str]:
    status = _git(tree, "status", "--porcelain", "--untracked-files=normal")
    if status is None:
        return [f"git cannot read {tree}. Run make release in a clone of the repository."]
    if not status:
        return []
    files = [line[3:] for line in status.splitlines()]
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    return [f"Not committed: {', '.join(files[:5])}{more}. Commit, ignore or remove them."]


def _of_version(tree: Path) -> list[str]:
    name = version(tree)
    if not _RELEASE.fullmatch(name):
        return [
            f'__version__ is "{name}". '
            'Set it in cockpit/__init__.py, like __version__ = "1.2.3" or "1.2.3rc1".'
        ]
    found = []
    if _git(tree, "tag", "--list", f"v{name}", name):
        found.append(
            f"{name} is tagged already. Set the next __version__ in cockpit/__init__.py, "
            "and add its section to CHANGELOG.md."
        )
    if not (tree / "tests" / "releases" / name).is_dir():
        found.append(
            f"tests/releases/{name} does not exist, so no test opens what {name} leaves on disk. "
            "Run .venv/bin/pytest tests/releases/record.py, and commit what it writes."
        )
    return found + _of_section(name, sections(tree))


def _of_section(name: str, known: list[Section]) -> list[str]:
    section = next((one for one in known if one.version == name), None)
    heading = f"## {name} (YYYY-MM-DD)"
    if section is None:
        return [f'CHANGELOG.md has no section for {name}. Add "{heading}" at its top.']
    found = []
    if section != known[0]:
        found.append(
            f"The first section of CHANGELOG.md is {known[0].version}, not {name}. "
            "Release that version, or move the section down."
        )
    if not section.dated:
        found.append(
            f'The section for {name} in CHANGELOG.md has no date ("{section.note}"). '
            f'Write "{heading}".'
        )
    if not section.text:
        found.append(f"The section for {name} in CHANGELOG.md is empty. Say what has changed.")
    return found


def _git(tree: Path, *arguments: str) -> str | None:
    """Return what git prints, or None if it fails."""
    done = subprocess.run(
        ["git", "-C", str(tree), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.rstrip("\n") if done.returncode == 0 else None

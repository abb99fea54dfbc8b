"""The scratch project that the demo's agents work on: a small time sheet, in git.

git reads only the repository's configuration, not the user's (name, signing key, hooks). cockpit
creates the agents' worktrees.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from cockpit.core.errors import Failed

FILES: Mapping[str, str] = {
    ".gitignore": "__pycache__/\n.worktrees/\n",
    "README.md": """\
# tally

Adds up a time sheet with one entry per line: `day minutes task`.

    python3 -m tally sheet.txt
""",
    "sheet.txt": """\
2026-03-02 95 writing
2026-03-02 40 review
2026-03-03 130 writing
2026-03-10 55 review
""",
    "tally/__init__.py": '"""Adds up a time sheet."""\n',
    "tally/entries.py": '''\
"""Entries of a time sheet."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    day: str
    minutes: int
    task: str


def parse(line: str) -> Entry:
    """Read one line: day, minutes, task."""
    day, minutes, task = line.split(maxsplit=2)
    return Entry(day, int(minutes), task)
''',
    "tally/report.py": '''\
"""Totals of a time sheet."""

from collections.abc import Iterable

from tally.entries import Entry


def totals(entries: Iterable[Entry]) -> dict[str, int]:
    """Minutes per task."""
    sums: dict[str, int] = {}
    for entry in entries:
        sums[entry.task] = sums.get(entry.task, 0) + entry.minutes
    return sums
''',
    "tally/__main__.py": '''\
"""`python3 -m tally SHEET`."""

import sys
from pathlib import Path

from tally.entries import parse
from tally.report import totals

entries = [parse(line) for line in Path(sys.argv[1]).read_text().splitlines()]
for task, minutes in sorted(totals(entries).items()):
    print(f"{minutes:6} {task}")
''',
    "tests/__init__.py": "",
    "tests/test_entries.py": """\
import unittest

from tally.entries import Entry, parse


class Parsing(unittest.TestCase):
    def test_a_line(self) -> None:
        self.assertEqual(parse("2026-03-02 95 writing"), Entry("2026-03-02", 95, "writing"))
""",
    "tests/test_report.py": """\
import unittest

from tally.entries import Entry
from tally.report import totals


class Totals(unittest.TestCase):
    def test_adds_up_per_task(self) -> None:
        entries = [Entry("2026-03-02", 95, "writing"), Entry("2026-03-03", 130, "writing")]
        self.assertEqual(totals(entries), {"writing": 225})
""",
}


def make_repository(directory: Path, environment: Mapping[str, str]) -> None:
    """Write the project into a new directory and commit it on `main`.

    `environment` is git's whole environment, with the demo's HOME. If git fails, raises `Failed`
    with git's output.
    """
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (
        ("init", "--quiet", "--initial-branch=main", "--template="),
        ("config", "user.name", "Demo User"),
        ("config", "user.email", "pilot@example.invalid"),
        ("config", "commit.gpgsign", "false"),
        ("add", "--all"),
        ("commit", "--quiet", "--message=Add up a time sheet"),
    ):
        git(directory, command, environment)


def git(directory: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Run git in the directory; return its output. Raises `Failed` if git fails."""
    quiet = {
        **environment,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
    }
    run = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=quiet,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if run.returncode:
        raise Failed(
            "Cannot create the scratch repository",
            run.stderr.strip(),
            hint="Check the free space of the temporary folder, and git --version.",
        )
    return run.stdout

"""`cockpit facts`: what one session set out to do and did, told by its record and by git.

No model is asked. Git is asked only about the directory that the record names, if it is there.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.claude_skim import parse_facts
from cockpit.adapters.launch_order import prompt_file
from cockpit.cli.usage import Reader, read_into
from cockpit.core.collect import Collector
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.safetext import safe_line
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.session_report import facts_report
from cockpit.ports.worktrees import GitFacts


def facts(path: Path, as_json: bool) -> int:
    """Print the facts of one transcript. Raises `Failed` when it cannot be read."""
    report = read_facts(path)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(_told(report)))
    return 0


def read_facts(path: Path) -> dict[str, Any]:
    """The form of the contract. Raises `Failed` when the transcript cannot be read."""
    reader, collector = Reader(), Collector()

    def feed(event: SessionEvent | Skipped) -> None:
        reader.feed(event)
        collector.feed(event)

    error = read_into(reader, path, parse_facts, feed)
    if error is not None:
        raise Failed(
            f"{safe_line(str(path), 300)} cannot be read",
            error,
            "Name a session's .jsonl file; `cockpit status --json` has those of your agents.",
        )
    git = _ask_git(reader.cwd)
    return facts_report(
        collector.facts(),
        reader.report(path),
        git_status=git.status if git and git.status_known else None,
        branch=git.branch if git else None,
        head=git.head if git else None,
    )


def _ask_git(directory: str | None) -> GitFacts | None:
    """None where there is no such directory, no repository or no git."""
    if directory is None or not Path(directory).is_dir():
        return None
    from cockpit.adapters.git import Git

    try:
        found = asyncio.run(Git().facts(Path(directory)))
    except CockpitError:
        return None
    return found if found.root is not None else None


def _told(report: dict[str, Any]) -> Iterator[str]:
    """The facts for a person; every line of foreign text made harmless."""
    yield f"Goal      {safe_line(report['goal'] or 'not known', 500)}"
    if (file := prompt_file(report["goal"] or "")) is not None:
        gone = "" if os.access(file, os.F_OK) else ", which is gone"
        yield f"          The prompt itself is in that file{gone}."
    branch, head = report["branch"], report["head"]
    if head is not None or branch is not None:
        yield f"Git       {safe_line(branch or 'detached', 200)} at {(head or 'no commit')[:12]}"
    sections = (
        ("Status", (report["git_status"] or "").splitlines()),
        ("Todos", [f"[{todo['status']}] {todo['content']}" for todo in report["todos"]]),
        ("Files", report["files_modified"]),
        ("Commits", [f"{made['hash']} {made['subject']}" for made in report["commits"]]),
        (
            "Subagents",
            [
                f"{one['id']} {one['type']} {one['status']}: {one['task']}"
                for one in report["subagents"]
            ],
        ),
        ("Last", report["recent_activity"]),
    )
    for title, lines in sections:
        for number, line in enumerate(lines):
            yield f"{title if number == 0 else '':<10}{safe_line(line, 300)}"

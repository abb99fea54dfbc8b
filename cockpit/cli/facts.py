"""`cockpit facts`: print a session's goal and results, from its transcript and from git.

Uses no model. Runs git only in the session's directory, if that directory exists.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from cockpit.cli.usage import Reader, read_into
from cockpit.core.collect import Collector
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.facts import Facts
from cockpit.core.prompt_files import prompt_files
from cockpit.core.safetext import safe_line
from cockpit.core.session import SessionEvent, Skipped, UserSaid
from cockpit.core.session_report import facts_report
from cockpit.ports.worktrees import GitFacts


def facts(path: Path, as_json: bool) -> int:
    """Print the facts of one transcript. Raises `Failed` when it cannot be read."""
    report = read_facts(path)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(_text_lines(report)))
    return 0


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts of one transcript in their documented JSON form.

    Raises `Failed` if the transcript cannot be read.
    """
    reader, collector = Reader(), Collector()
    began: list[datetime] = []

    def feed(event: SessionEvent | Skipped) -> None:
        reader.feed(event)
        if not began and isinstance(event, UserSaid) and event.at is not None:
            began.append(event.at)
        collector.feed(event)

    error = read_into(reader, path, lambda form: form.facts(), feed)
    if error is not None:
        raise Failed(
            f"Cannot read {safe_line(str(path), 300)}",
            error,
            "Pass a CLI's transcript. `cockpit status --json` lists your agents' transcripts.",
        )
    facts = collector.facts()
    git, facts = _with_git(reader.cwd, facts, began[0] if began else None)
    return facts_report(
        facts,
        reader.report(path),
        git_status=git.status if git and git.status_known else None,
        branch=git.branch if git else None,
        head=git.head if git else None,
    )


def _with_git(
    directory: str | None, facts: Facts, since: datetime | None
) -> tuple[GitFacts | None, Facts]:
    """Return git's facts, and the session's facts with its commits from git.

    Without a directory, a repository or git, returns None and the unchanged facts.
    """
    if directory is None or not Path(directory).is_dir():
        return None, facts
    try:
        return asyncio.run(_ask_git(Path(directory), facts, since))
    except CockpitError:
        return None, facts


async def _ask_git(
    directory: Path, facts: Facts, since: datetime | None
) -> tuple[GitFacts | None, Facts]:
    from cockpit.adapters.git.session_commits import with_commits
    from cockpit.adapters.git.worktrees import Git

    git = Git()
    state = await git.facts(directory, since=since)
    if state.root is None:
        return None, facts
    return state, await with_commits(git, directory, state, facts)


def _text_lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield the facts as text lines, without control characters."""
    yield f"Goal      {safe_line(report['goal'] or 'unknown', 500)}"
    if files := prompt_files(report["goal"] or ""):
        exists = all(os.access(file, os.F_OK) for file in files)
        if len(files) == 1:
            named, missing = "that file", ", which no longer exists"
        else:
            named, missing = "those files", ", but not all of them still exist"
        yield f"          The full prompt is in {named}{'' if exists else missing}."
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
                f"{subagent['id']} {subagent['type']} {subagent['status']}: {subagent['task']}"
                for subagent in report["subagents"]
            ],
        ),
        (
            "Tasks",
            [
                f"{task['id']} {task['type']} {task['status']}: "
                f"{task['command'] or task['description']}"
                for task in report["background"]
            ],
        ),
        ("Last", report["recent_activity"]),
        *_conversation_lines(report),
    )
    for title, lines in sections:
        for number, line in enumerate(lines):
            yield f"{title if number == 0 else '':<10}{safe_line(line, 300)}"


def _conversation_lines(report: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections about the conversation, such as prompts and checks: title and lines."""
    yield "Prompts", [f"{prompt['turn']}: {prompt['text']}" for prompt in report["prompts"]]
    yield "Orders", [f"{order['turn']}: {order['text']}" for order in report["constraints"]]
    yield (
        "Answers",
        [
            f"{answer['turn']}: {answer['question']} {answer['answer']}"
            for answer in report["answers"]
        ],
    )
    yield (
        "Refused",
        [
            f"{refusal['turn']}: {refusal['call']}"
            + (f": {refusal['reason']}" if refusal["reason"] else "")
            for refusal in report["refusals"]
        ],
    )
    yield "Checks", [_check(check) for check in report["checks"]]
    yield (
        "Failed",
        [
            f"{failure['turn']}: {failure['call']}: {failure['error']}"
            + (f"; worked later: {failure['worked']}" if failure["worked"] else "")
            for failure in report["failures"]
        ],
    )
    yield (
        "Links",
        [
            f"{link['url'] or (link['repository'] or '') + '#' + str(link['number'])} "
            f"{link['state'] or 'state unknown'}"
            for link in report["links"]
        ],
    )
    if (plan := report["plan"]) is not None:
        decided = {True: "approved", False: "refused", None: "not answered"}[plan["approved"]]
        yield "Plan", [f"{plan['turn']}: {decided}: {plan['text']}"]


def _check(check: dict[str, Any]) -> str:
    how = {True: "failed", False: "passed", None: "result unknown"}[check["failed"]]
    result = f", {check['result']}" if check["result"] else ""
    since = ", before the last edit" if check["edited_since"] else ""
    return f"{check['turn']}: {check['kind']} {check['command']}: {how}{result}{since}"

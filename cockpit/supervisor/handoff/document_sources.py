"""The sources of a handoff document: a copy of the session, git, and files that a draft names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cockpit.core import document
from cockpit.core.claimed_files import Trace
from cockpit.core.errors import Failed
from cockpit.core.facts import CommitMade
from cockpit.core.verified_facts import GitView
from cockpit.ports.runtimes import Aside
from cockpit.ports.worktrees import GitFacts, Worktrees


def document_in(answer: Aside) -> str:
    """Return the draft that a copy of a session wrote. Raises `Failed` if there is none."""
    if answer.problem:
        raise Failed("The copy of the session wrote no document", answer.problem)
    problems = [problem.text for problem in document.validate(answer.text) if not problem.mends]
    if problems:
        raise Failed(
            "The copy of the session did not write a valid handoff document", " ".join(problems)
        )
    return answer.text


async def view_of_git(
    worktrees: Worktrees, directory: Path, facts: GitFacts, hashes: Iterable[str]
) -> GitView:
    """Return the state of git for a document, and which commits of `hashes` exist.

    Commits that exist but are in no branch count as lost.
    """
    known = {commit for commit in set(hashes) if await worktrees.known(directory, commit)}
    lost = {commit for commit in known if not await worktrees.reachable(directory, commit)}
    return GitView(
        is_repository=facts.root is not None,
        branch=facts.branch,
        head=facts.head,
        status=facts.status,
        status_known=facts.status_known,
        problem=facts.problem,
        busy=facts.busy,
        commits=tuple(CommitMade(commit.hash, commit.subject) for commit in facts.commits),
        root=str(facts.root) if facts.root is not None else None,
        committed=facts.committed,
        known=frozenset(known),
        lost=frozenset(lost),
        upstream=facts.upstream,
        ahead=facts.ahead,
        behind=facts.behind,
    )


def traces(directory: Path, git: GitView, files: list[str]) -> dict[str, Trace]:
    """Return for each file whether it is changed, unchanged or missing, according to git.

    Files outside the directory and the repository have no entry, nor do symlinks to such files, nor
    do files about which git cannot answer.
    """
    roots = [Path(os.path.realpath(root)) for root in (directory, git.root) if root]
    by_file: dict[str, Trace] = {}
    for name in files:
        paths = [Path(os.path.realpath(root / name)) for root in roots]
        inside = [path for path in paths if any(path.is_relative_to(root) for root in roots)]
        if not inside:
            continue
        is_there = any(os.path.lexists(path) for path in inside)
        candidates = [os.path.normpath(root / name) for root in roots]
        trace = git.trace(candidates, is_there=is_there)
        if trace is not None:
            by_file[name] = trace
    return by_file

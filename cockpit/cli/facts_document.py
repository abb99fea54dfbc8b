"""`cockpit facts --document`: the handoff document of a transcript, without a model.

Uses the functions with which the supervisor writes a document when no agent can write it. The
document lacks only an agent's own data: the job, the chain and the first commit.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cockpit.cli.config_file import file_to_read
from cockpit.cli.places import our_places
from cockpit.cli.usage import Reader, read_into
from cockpit.config.read import load
from cockpit.config.schema import HandoffSettings
from cockpit.core import composition
from cockpit.core.collect import Collector
from cockpit.core.errors import BadConfig, CockpitError, Failed
from cockpit.core.facts import Facts
from cockpit.core.facts_budget import within
from cockpit.core.front_matter import FrontMatter
from cockpit.core.redaction import Redactor, secret_values
from cockpit.core.safetext import safe_line
from cockpit.core.session import SessionEvent, Skipped, UserSaid
from cockpit.core.verified_facts import GitView


def print_document(path: Path, config: Path | None = None) -> int:
    """Print the document of one transcript. Raises `Failed` when it cannot be read."""
    print(document_of(path, configured_size(config)), end="")
    return 0


def configured_size(config: Path | None) -> int:
    """Return `handoff.max_tokens` of the configuration that applies here.

    If a configuration file is invalid, prints a note on stderr and returns the default, because the
    document does not need the configuration.
    """
    file, named = file_to_read(config)
    try:
        loaded = load(our_places(), file, Path.cwd(), os.environ, named=named)
    except BadConfig as invalid:
        default = HandoffSettings().max_tokens
        note = f"{invalid.title}; using the default document size ({default:,} tokens)"
        print(f"cockpit: {safe_line(note, 500)}", file=sys.stderr)
        return default
    return loaded.settings.defaults.handoff.max_tokens


def document_of(path: Path, max_tokens: int | None = None) -> str:
    """Return the handoff document for a transcript's session, without secrets.

    `max_tokens`: the approximate maximum size; None for the default. Raises `Failed` when the
    transcript cannot be read.
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
    facts, git = _with_git(reader.cwd, collector.facts(), began[0] if began else None)
    facts, git, cut = within(facts, git, None, max_tokens or HandoffSettings().max_tokens)
    return composition.compose(
        composition.DocumentInput(
            draft=composition.draft_from_facts(facts, git, cut=cut),
            front=_front(reader, path, git),
            facts=facts,
            git=git,
            goal=None,
            redactor=Redactor(secret_values(os.environ)),
            links=composition.Links(transcript=str(path.absolute())),
        )
    )


def _with_git(directory: str | None, facts: Facts, since: datetime | None) -> tuple[Facts, GitView]:
    """Return the facts with the session's commits from git, and git's state in the directory.

    If the directory is missing or git fails, returns the unchanged facts and a state that says why.
    """
    if directory is None:
        return facts, GitView(status_known=False, problem="the transcript names no directory")
    if not Path(directory).is_dir():
        problem = f"{safe_line(directory, 300)} is not a directory on this machine"
        return facts, GitView(status_known=False, problem=problem)
    from cockpit.adapters.git.session_commits import with_commits
    from cockpit.adapters.git.worktrees import Git
    from cockpit.supervisor.handoff.document_sources import view_of_git

    async def ask(folder: Path) -> tuple[Facts, GitView]:
        git = Git()
        state = await git.facts(folder, since=since)
        own = facts if state.root is None else await with_commits(git, folder, state, facts)
        hashes = [made.hash for made in own.commits]
        # Not `state.commits`: commits since the session began can be from other sessions.
        return own, await view_of_git(git, folder, replace(state, commits=()), hashes)

    try:
        return asyncio.run(ask(Path(directory)))
    except CockpitError as error:
        problem = ": ".join(filter(None, (error.title, error.detail)))
        return facts, GitView(status_known=False, problem=problem)


def _front(reader: Reader, path: Path, git: GitView) -> FrontMatter:
    report = reader.report(path)
    context = report["context"]
    return FrontMatter(
        worktree=reader.cwd,
        branch=git.branch,
        head_commit=git.head,
        old_session_id=reader.session_id,
        tokens=context["tokens"],
        window=context["window"],
        percent=round(context["used"] * 100, 1) if context["used"] is not None else None,
        confidence=context["confidence"],
        transcript=str(path.absolute()),
    )

"""`cockpit history` and `show`: the sessions of each job in order, and their documents."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.cli.output import json_text, say
from cockpit.core.errors import BadUsage
from cockpit.core.far_names import host_and_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line, safe_text
from cockpit.core.search import words as search_words
from cockpit.core.token_counts import token_count

if TYPE_CHECKING:
    from cockpit.wire.history import (
        HistoryChain,
        HistoryDocument,
        HistoryHandoff,
        HistorySession,
        HistoryStatement,
    )

TOO_MANY_HANDOFFS = 4
"""From this number of handoffs on, `history` advises smaller jobs."""

RUNNING = ("live", "undoing")
"""States of a session that is still running."""

REBUILT = (
    "rebuilt from the job's documents after the database was lost; "
    "facts that are not in the documents are unknown"
)


@click.command(
    epilog="""\b
Examples:
  cockpit history
  cockpit history api --json
  cockpit history --quality
  cockpit history --all-hosts --search 'auth token'
  cockpit history --search 'auth token'"""
)
@with_common_options
@click.argument("name", required=False, shell_complete=agent_names)
@click.option(
    "--search", metavar="WORDS", help="List only documents that contain all of these words."
)
@click.option("--quality", is_flag=True, help="Show how well each handoff went.")
@click.option("--all-hosts", is_flag=True, help="List the jobs of this machine and of every host.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history(
    name: str | None, search: str | None, quality: bool, all_hosts: bool, as_json: bool
) -> int:
    """List the sessions of each job, with their documents.

    Prints one line per session: number, state, context before -> after the handoff (`162k -> 45k`),
    cost, duration and start. The lines below each session list its documents, each with the id for
    `cockpit show` and `cockpit continue`.

    --search also lists the decisions and constraints that contain WORDS, and whether they still
    apply.

    --quality prints a line per completed handoff: tokens before and after, the document's size,
    whether the new session read the document, and the new session's time to the first edit or
    commit. The line also counts the finished steps that the new session repeated, the constraints
    that the new session violated and the questions that the new session asked again, and shows
    whether you undid the handoff.
    """
    from cockpit.wire.history import to_json

    chains = _chains_of_all(name, search) if all_hosts else _chains(name, search)
    if as_json:
        data = [to_json(chain) for chain in chains]
        print(json_text(data))
        return 0
    if quality:
        from cockpit.cli.handoff_quality import quality_lines

        print("\n".join(quality_lines(chains)))
        return 0
    if search_words(search or ""):
        print("\n".join(format_matches(chains)) or "No document contains all of these words.")
        return 0
    now = datetime.now(UTC)
    print("\n\n".join("\n".join(format_chain(chain, now)) for chain in chains) or "No history yet.")
    newest = newest_document(chains)
    if all_hosts and newest is not None:
        say("Read a document: cockpit show ID; of another machine: cockpit show ID --host HOST")
    elif newest is not None:
        say(
            f"Read a document: cockpit show {newest}. "
            f"Start an agent from a document: cockpit continue {newest}"
        )
    return 0


def _chains(name: str | None, search: str | None) -> list[HistoryChain]:
    from cockpit.cli.requests import remote_host, with_client
    from cockpit.core.ids import agent_name

    wanted = None if name is None else agent_name(name)
    chains = with_client(lambda client: client.history(wanted, search))
    host = remote_host()
    if host is None:
        return chains
    return [chain.model_copy(update={"host": host.name}) for chain in chains]


def _chains_of_all(name: str | None, search: str | None) -> list[HistoryChain]:
    """Return the chains of all hosts. Raises `BadUsage` if the user named an agent or a host."""
    from cockpit.cli.all_hosts import ask_all_hosts
    from cockpit.cli.options import common_options

    if name is not None or common_options().host is not None:
        raise BadUsage(
            "--all-hosts cannot be used with a name or with --host",
            "A name belongs to one host.",
            "Search all hosts with: cockpit history --all-hosts --search WORDS",
        )
    answers = ask_all_hosts(lambda client: client.history(None, search))
    return [chain for chains in answers.values() for chain in chains]


@click.command(
    epilog="""\b
Examples:
  cockpit show 5f0c0f0e | less
  cockpit show .cockpit/handoffs/handoff-2026-11-21-201500.md"""
)
@with_common_options
@click.argument("handoff", metavar="ID")
def show(handoff: str) -> int:
    """Print a handoff document.

    ID is printed by `history` and `status --json`; the first characters of an ID and the document's
    path also work. If the worktree was deleted, prints cockpit's copy.
    """
    from cockpit.cli.requests import remote_host, require_absolute_path, with_client

    here = remote_host() is None
    is_path = os.sep in handoff or (here and Path(handoff).is_file())
    if is_path:
        require_absolute_path(Path(handoff), "The document")
    named = str(Path(handoff).absolute()) if is_path else handoff
    print(safe_text(with_client(lambda client: client.document(named))), end="")
    return 0


def newest_document(chains: list[HistoryChain]) -> str | None:
    """Return a short id of the newest document; None if there are no documents."""
    documents = [
        (session.ended_at or session.started_at or "", session.handoff)
        for chain in chains
        for session in chain.sessions
        if session.document and session.handoff
    ]
    return _short(max(documents)[1]) if documents else None


def _short(handoff: str) -> str:
    """Return the first eight characters of a handoff's id, without the name of its host."""
    return host_and_name(handoff)[1][:8]


def format_matches(chains: list[HistoryChain]) -> list[str]:
    """Return the lines of the search results.

    First the documents, newest first, with the matching text on a second line; then one line for
    each decision or constraint.
    """
    matches = [
        (handoff.created, chain.agent, handoff)
        for chain in chains
        for session in chain.sessions
        for handoff in session.handoffs
    ]
    lines = []
    for created, agent, handoff in sorted(matches, key=lambda match: match[0], reverse=True):
        text = f"{_short(handoff.id)}  {safe_line(agent)}  {created}  {handoff.document}"
        lines.append(safe_line(f"{text} ({handoff.writer or 'unknown writer'})", 400))
        lines.append(f"    {safe_line(handoff.found or '', 200)}".rstrip())
    for chain in chains:
        lines += [_format_statement(chain.agent, statement) for statement in chain.statements]
    return lines


def _format_statement(agent: str, statement: HistoryStatement) -> str:
    """Format a decision or constraint of a chain, and whether it still applies."""
    if statement.revoked_in is None:
        state = f"holds since {statement.since}"
    else:
        state = f"held since {statement.since}, revoked in {statement.revoked_in}"
    return safe_line(f"{agent}  {state}: {statement.text}", 400)


def format_chain(chain: HistoryChain, now: datetime) -> list[str]:
    """Format a job: its goal, its sessions in order, and a note if the job needed many handoffs."""
    sessions = chain.sessions
    spent = [session.cost_usd for session in sessions if session.cost_usd is not None]
    sums = [
        counted(chain.handoffs, "handoff"),
        f"${sum(spent):.2f}" if spent else "",
        _chain_duration(chain, now),
    ]
    goal = safe_line(chain.goal or "no prompt", 60)
    lines = [f"{safe_line(chain.agent)}  {goal}  ({', '.join(filter(None, sums))})"]
    if sessions and sessions[0].began_with:
        lines.append(safe_line(f"  started from {sessions[0].began_with}", 400))
    if not sessions:
        lines.append("  never started")
    clis = {session.runtime for session in sessions if session.runtime}
    for session, after in zip_longest(sessions, sessions[1:]):
        cli = f"{session.runtime:<{max(map(len, clis))}}" if len(clis) > 1 else ""
        lines.append(f"  {_format_session(session, after, now, cli)}")
        lines += [f"      {_format_earlier(document)}" for document in session.documents[:-1]]
        if session.document:
            lines.append(f"      {_format_document(session)}")
        lines += [f"      {why}" for why in map(_format_why, session.handoffs) if why]
    if chain.rebuilt:
        lines.append(f"  {REBUILT}")
    if chain.handoffs >= TOO_MANY_HANDOFFS:
        lines.append(f"  handed off {chain.handoffs} times; next time, use smaller jobs")
    return lines


def _format_session(
    session: HistorySession, after: HistorySession | None, now: datetime, cli: str
) -> str:
    """Format a session in one line.

    `cli` is the name of the session's CLI; empty if all sessions of the job have the same CLI.
    """
    from cockpit.tui.present.words import stamp  # deferred: `--help` needs no models

    cost = session.cost_usd
    cells = [
        f"{session.number:>2}.",
        *filter(None, [cli]),
        f"{session.state.replace('_', ' '):<10}",
        f"{_format_context(session, after):<12}",
        f"{'' if cost is None else f'${cost:.2f}':>7}",
        f"{_duration(session.started_at, _ended_at(session, now)):>8}",
        f" {stamp(session.started_at)}" if session.started_at else "",
        f"on {session.machine}" if session.machine else "",
    ]
    return safe_line(" ".join(cells), 400).rstrip()


def _format_document(session: HistorySession) -> str:
    """Format the session's newest document, and how its handoff ended unless it succeeded."""
    outcome = (session.outcome or "open").replace("_", " ")
    ended = "" if outcome == "done" else f", {outcome}"
    ended += _answered(session.outcome, session.answered_by)
    text = f"{_short(session.handoff or '')}  {session.document}"
    return safe_line(f"{text} ({session.writer or 'unknown writer'}{ended})", 400)


def _format_earlier(document: HistoryDocument) -> str:
    """Format an earlier document of the session, and how its handoff ended."""
    ended = (document.outcome or "open").replace("_", " ")
    ended += _answered(document.outcome, document.answered_by)
    text = f"earlier: {_short(document.id)}  {document.path}"
    return safe_line(f"{text} ({document.writer or 'unknown writer'}, {ended})", 400)


def _format_why(handoff: HistoryHandoff) -> str | None:
    """Format the reason of a cancelled, revived or failed handoff.

    Returns None if the reason is unknown, and for other outcomes.
    """
    if handoff.outcome not in ("cancelled", "revived", "failed") or not handoff.why:
        return None
    return safe_line(f"{_short(handoff.id)}  {handoff.outcome}: {handoff.why}", 400)


def _answered(outcome: str | None, by: str | None) -> str:
    """Format who approved or refused a handoff; empty if nobody did."""
    if by is None:
        return ""
    return f"{' ' if outcome == 'refused' else ', approved '}by {by}"


def _format_context(session: HistorySession, after: HistorySession | None) -> str:
    """Format the context at the session's end; after a completed handoff, also the context at the
    start of the next session."""
    held = _thousands(session.tokens)
    if session.outcome != "done" or session.state == "live" or after is None:
        return held
    began = after.tokens_at_start
    return f"{held} -> {_thousands(began)}" if began else held


def _thousands(tokens: int | None) -> str:
    return "-" if tokens is None else token_count(tokens)


def _chain_duration(chain: HistoryChain, now: datetime) -> str:
    """Format the time from the job's start until now, or until its end; empty if unknown."""
    ends = [_ended_at(session, now) for session in chain.sessions]
    is_known = bool(ends) and (now in ends or ends[-1] is not None)
    return _duration(chain.started_at, max(filter(None, ends))) if is_known else ""


def _ended_at(session: HistorySession, now: datetime) -> datetime | None:
    """Return the time when a session ended; `now` while it runs, None if unknown."""
    if session.ended_at is not None:
        return datetime.fromisoformat(session.ended_at)
    return now if session.state in RUNNING else None


def _duration(began: str | None, ended: datetime | None) -> str:
    """Format the time between `began` and `ended`; empty if either is unknown."""
    if began is None or ended is None:
        return ""
    minutes = max(0, int((ended - datetime.fromisoformat(began)).total_seconds() // 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"

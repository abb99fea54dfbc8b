"""What was: chains of sessions, documents, and the facts of a session as it stands.

Only looks. The shapes are those of `cockpit history --json` and `cockpit facts --json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.facts import CommitMade
from cockpit.core.handoff.states import Outcome
from cockpit.core.safetext import safe_line
from cockpit.core.search import excerpt, words
from cockpit.core.session_report import facts_report, usage_report
from cockpit.ports.records import HandoffRecord, JobRecord
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.lineage import REBUILT
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor


def chains(supervisor: Supervisor, name: str | None) -> list[dict[str, Any]]:
    """Every job with its sessions in order, of one agent or of all; oldest first."""
    store = supervisor.instruments.store
    jobs = store.jobs(name)
    if name is not None and not jobs:
        supervisor.fleet.seat(name)
    return [_chain(supervisor, job) for job in jobs]


async def search(supervisor: Supervisor, typed: str, name: str | None) -> list[dict[str, Any]]:
    """As `chains`, but only what left a document with all the words, and where they stand in it.

    No words are in every document. The newest 200 documents at most.
    """
    wanted = words(typed)
    if not wanted:
        return chains(supervisor, name)
    await supervisor.indexing.catch_up()
    hits = supervisor.indexing.table.find(wanted, name)
    found = {hit.handoff: excerpt(hit.text.partition("\n")[2], wanted) for hit in hits}
    return [held for chain in chains(supervisor, name) if (held := _holding(chain, found))]


def _holding(chain: dict[str, Any], found: Mapping[str, str]) -> dict[str, Any] | None:
    """A chain with those of its sessions and handoffs alone that were found; None for none."""
    sessions = []
    for session in chain["sessions"]:
        documents = [each for each in session["documents"] if each["id"] in found]
        handoffs = [
            {**each, "found": found[each["id"]]}
            for each in session["handoffs"]
            if each["id"] in found
        ]
        if handoffs:
            sessions.append({**session, "documents": documents, "handoffs": handoffs})
    return {**chain, "sessions": sessions} if sessions else None


def _chain(supervisor: Supervisor, job: JobRecord) -> dict[str, Any]:
    store = supervisor.instruments.store
    all_handoffs = store.handoffs(job.id)
    rebuilt = [each for each in all_handoffs if each.details.get(REBUILT)]
    begun = {each.new_session: each.details.get("tokens_after") for each in all_handoffs}
    seat = supervisor.fleet.find(job.agent)
    sessions = []
    for session in store.chain(job.id):
        own = [each for each in all_handoffs if each.old_session == session.id]
        papers = [each for each in own if each.document]
        left = papers[-1] if papers else None
        now = seat is not None and seat.record.session == session.id
        sessions.append(
            {
                "id": session.id,
                "number": session.number,
                "state": session.state,
                "document": left.document if left else None,
                "documents": [_paper(each) for each in papers],
                "handoffs": [_handoff(each) for each in own],
                "handoff": left.id if left else None,
                "writer": left.writer if left else None,
                "outcome": left.outcome if left else None,
                "cost_usd": seat.cost_usd if seat and now else session.cost_usd,
                "tokens": seat.sitting.gauge.tokens if seat and now else session.tokens,
                "tokens_at_start": begun.get(session.id),
                "compactions": session.compactions,
                "began_with": session.document,
                "started_at": rfc3339(session.created),
                "ended_at": rfc3339(session.ended) if session.ended else None,
                "transcript": session.transcript,
                "rebuilt": any(
                    session.id in (each.old_session, each.new_session) for each in rebuilt
                ),
            }
        )
    return {
        "agent": job.agent,
        "job": job.id,
        "goal": job.prompt,
        "started_at": rfc3339(job.created),
        "handoffs": sum(each.outcome == Outcome.DONE.value for each in all_handoffs),
        "rebuilt": bool(rebuilt),
        "sessions": sessions,
    }


def _paper(left: HandoffRecord) -> dict[str, Any]:
    return {
        "id": left.id,
        "path": left.document,
        "outcome": left.outcome,
        "writer": left.writer,
    }


def _handoff(record: HandoffRecord) -> dict[str, Any]:
    """One handoff, with or without a document; an `outcome` of null is one that is under way."""
    return {
        "id": record.id,
        "reason": record.reason,
        "created": rfc3339(record.created),
        "ended": rfc3339(record.ended) if record.ended else None,
        "outcome": record.outcome,
        "why": record.why,
        "document": record.document,
        "copy": record.copy,
        "writer": record.writer,
        "tokens_after": record.details.get("tokens_after"),
    }


def document(supervisor: Supervisor, named: str) -> str:
    """The text of a handoff's document, from the worktree or our copy; else its draft of facts.

    `named` is the id, the beginning of one that no other has, or the document's path.
    """
    record = _named(supervisor, named)
    for path in _places(supervisor, record):
        if path.is_file():
            return supervisor.instruments.documents.read(path)
    raise NoSuchAgent(
        f"The handoff {record.id} has no document",
        record.why or "It was not written yet, or it is gone from the worktree and was not kept.",
    )


def _named(supervisor: Supervisor, named: str) -> HandoffRecord:
    found = supervisor.instruments.store.handoffs_named(named) if named else []
    if len(found) == 1:
        return found[0]
    shown = safe_line(named, 200)
    if not found:
        raise NoSuchAgent(f"There is no handoff {shown!r}", "", "List them: cockpit history")
    raise BadUsage(
        f"{len(found)} handoffs begin with {shown!r}",
        "\n".join(f"{each.id}  {each.agent}" for each in found[:10]),
        "Give more of the id.",
    )


def _places(supervisor: Supervisor, record: HandoffRecord) -> list[Path]:
    copies = supervisor.instruments.documents.copies
    named = (record.document, record.copy, record.details.get("draft_facts"))
    return [*(Path(path) for path in named if path), copies.archived(record.id)]


async def facts(supervisor: Supervisor, seat: Seat) -> dict[str, Any]:
    """The session's facts, now: its goal is the job's, its commits are git's."""
    git = await supervisor.instruments.worktrees.facts(
        seat.directory, since_commit=seat.job.base_commit if seat.job else None
    )
    found = replace(
        supervisor.engine.facts(seat),
        commits=tuple(CommitMade(each.hash, each.subject) for each in git.commits),
    )
    if seat.job is not None and seat.job.prompt:
        found = replace(found, goal=seat.job.prompt)
    session = seat.session
    usage = usage_report(
        (session.transcript if session else None) or "",
        seat.sitting.meter,
        seat.sitting.gauge.window,
        seat.record.session,
    )
    return facts_report(
        found,
        usage,
        git_status=git.status if git.root is not None and git.status_known else None,
        branch=git.branch,
        head=git.head,
    )

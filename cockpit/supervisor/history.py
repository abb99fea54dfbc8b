"""What was: chains of sessions, documents, and the facts of a session as it stands.

Only looks. The shapes are those of `cockpit history --json` and `cockpit facts --json`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.core.errors import NoSuchAgent
from cockpit.core.facts import CommitMade
from cockpit.core.session_report import facts_report, usage_report
from cockpit.ports.records import HandoffRecord, JobRecord
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor


def chains(supervisor: Supervisor, name: str | None) -> list[dict[str, Any]]:
    """Every job with its sessions in order, of one agent or of all; oldest first."""
    store = supervisor.instruments.store
    jobs = store.jobs(name)
    if name is not None and not jobs:
        supervisor.fleet.seat(name)
    return [_chain(supervisor, job) for job in jobs]


def _chain(supervisor: Supervisor, job: JobRecord) -> dict[str, Any]:
    store = supervisor.instruments.store
    handoffs = {each.old_session: each for each in store.handoffs(job.id) if each.document}
    seat = supervisor.fleet.find(job.agent)
    sessions = []
    for session in store.chain(job.id):
        left = handoffs.get(session.id)
        now = seat is not None and seat.record.session == session.id
        sessions.append(
            {
                "id": session.id,
                "number": session.number,
                "state": session.state,
                "document": left.document if left else None,
                "handoff": left.id if left else None,
                "writer": left.writer if left else None,
                "outcome": left.outcome if left else None,
                "cost_usd": seat.sitting.cost_usd if seat and now else session.cost_usd,
                "tokens": seat.sitting.gauge.tokens if seat and now else session.tokens,
                "compactions": session.compactions,
                "started_at": rfc3339(session.created),
                "transcript": session.transcript,
            }
        )
    return {
        "agent": job.agent,
        "job": job.id,
        "goal": job.prompt,
        "started_at": rfc3339(job.created),
        "sessions": sessions,
    }


def document(supervisor: Supervisor, ident: str) -> str:
    """The text of a handoff's document, from the worktree or our copy; else its draft of facts."""
    record = supervisor.instruments.store.handoff(ident)
    if record is None:
        raise NoSuchAgent(f"There is no handoff {ident!a}", "", "List them: cockpit history")
    for path in _places(record):
        if path.is_file():
            return supervisor.instruments.documents.read(path)
    raise NoSuchAgent(
        f"The handoff {ident} has no document",
        record.why or "It has not been written yet.",
    )


def _places(record: HandoffRecord) -> list[Path]:
    named = (record.document, record.copy, record.details.get("draft_facts"))
    return [Path(path) for path in named if path]


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

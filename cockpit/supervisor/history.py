"""What was: chains of sessions, documents, and the facts of a session as it stands.

Only looks. The shapes are those of `cockpit history --json` and `cockpit facts --json`.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from cockpit.core.errors import NoSuchAgent
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
    """The session's facts, now; what is not known is null or empty."""
    found = supervisor.engine.facts(seat)
    git = await supervisor.instruments.worktrees.facts(
        seat.directory, since_commit=seat.job.base_commit if seat.job else None
    )
    meter, reading = seat.sitting.meter, seat.sitting.gauge.reading
    return {
        "goal": seat.job.prompt if seat.job else found.goal,
        "todos": [asdict(todo) for todo in found.todos],
        "files_modified": list(found.files_modified),
        "commits": [asdict(commit) for commit in git.commits],
        "git_status": list(git.status) if git.status_known else None,
        "branch": git.branch,
        "head": git.head,
        "subagents": [asdict(agent) for agent in found.subagents],
        "recent_activity": list(found.recent_activity),
        "usage": {
            "tokens": reading.tokens,
            "window": reading.window,
            "used": reading.used,
            "confidence": reading.confidence.value,
            "source": reading.source,
            "api_calls": meter.api_calls,
            "compactions": meter.compactions,
        },
    }

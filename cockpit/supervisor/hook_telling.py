"""What a hook is told of a seat: the seat as it is now, in the shape of `core.hook_payload`.

Looks at the seat and at no more of the world than where its repository is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.config.project import repository_root
from cockpit.core.hook_events import Happening
from cockpit.core.hook_payload import (
    ContextTold,
    HandoffTold,
    SessionTold,
    Told,
    context_told,
    payload,
)
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of


def happening(
    seat: Seat,
    event: str,
    environment: Mapping[str, str],
    *,
    ident: str,
    at: str,
    text: str = "",
    data: Mapping[str, Any] | None = None,
    outcome: str | None = None,
    opening: tuple[SessionRecord, str | None] | None = None,
) -> Happening:
    """One event of this seat; `opening` is the session that is about to be started, and its prompt.

    Secrets of the environment and of the agent are taken out of all free text.
    """
    redactor = redactor_of(environment, seat)
    session = opening[0] if opening else seat.session
    needs = data.get("needs") if data else None
    told = Told(
        event=event,
        id=ident,
        at=at,
        text=text,
        context=_context(seat) if opening is None else ContextTold(),
        session=_session(seat, session, opening is not None),
        repo_root=_main_checkout(Path(seat.record.directory)),
        worktree=seat.record.worktree,
        cwd=str(seat.directory),
        original_prompt=seat.job.prompt if seat.job else None,
        prompt=opening[1] if opening else None,
        handoff=_handoff(seat, data or {}),
        outcome=outcome,
        needs=dict(needs) if event == "needs_you" and needs else None,
        mode=seat.settings.mode,
    )
    clean = payload(told, lambda free: redactor.redact(free).text)
    return Happening(event, clean, clean["text"])


def _context(seat: Seat) -> ContextTold:
    reading = seat.sitting.gauge.reading
    return context_told(
        reading.tokens,
        reading.window,
        seat.sitting.model,
        seat.band.value,
        reading.confidence.value,
    )


def _session(seat: Seat, session: SessionRecord | None, opening: bool) -> SessionTold:
    count = seat.handoffs + (1 if opening and seat.handoff is not None else 0)
    return SessionTold(
        session_id=session.id if session else None,
        agent_name=seat.name,
        job_id=seat.record.job,
        working_directory=str(seat.directory),
        worktree_path=seat.record.worktree,
        branch_name=seat.record.branch,
        is_continuation=bool(session and (session.previous or session.document)),
        previous_session_id=session.previous if session else None,
        handoff_count=count,
        transcript_path=session.transcript if session else None,
    )


def _handoff(seat: Seat, data: Mapping[str, Any]) -> HandoffTold | None:
    """The handoff under way; an event may know of its document before the record does."""
    record = seat.handoff_record
    if record is None:
        return None
    done = record.outcome == "done"
    return HandoffTold(
        handoff_id=record.id,
        reason=record.reason,
        old_session_id=record.old_session,
        new_session_id=record.new_session,
        handoff_number=seat.handoffs + (0 if done else 1),
        document=data.get("document") or record.document,
        writer=data.get("writer") or record.writer,
    )


def _main_checkout(directory: Path) -> str | None:
    """The repository's own folder, also for a directory inside one of its worktrees."""
    root = repository_root(directory)
    if root is None or (root / ".git").is_dir():
        return str(root) if root else None
    try:
        pointer = (root / ".git").read_text(encoding="utf-8", errors="replace")[:4096].strip()
    except OSError:
        return str(root)
    place = Path(pointer.removeprefix("gitdir:").strip())
    inside = place.parent.name == "worktrees" and place.parent.parent.name == ".git"
    return str(place.parent.parent.parent) if inside else str(root)

"""Build a hook's payload for an agent, in the format of `core.hook_payload`.

Reads only the agent's state and, from disk, the path of its repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_text
from cockpit.config.project import repository_root
from cockpit.core.events import AgentNeedsYou, Event, HandoffDocument, HandoffOver
from cockpit.core.hook_events import Happening
from cockpit.core.hook_payload import (
    ContextFields,
    EventFields,
    HandoffFields,
    SessionFields,
    context_fields,
    payload,
)
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of


@dataclass(frozen=True, slots=True)
class Occasion:
    """A hook event without the agent's fields."""

    event: str
    id: str
    at: str
    """When the event occurred, in the format of RFC 3339."""
    text: str
    cause: Event | None = None
    """The supervisor's event that triggers the hook event."""
    outcome: str | None = None
    opening: tuple[SessionRecord, str | None] | None = None
    """The session that is being started, with its prompt."""


def build_happening(agent: Agent, occasion: Occasion, environment: Mapping[str, str]) -> Happening:
    """Build one hook event of this agent, with known secrets removed from all free text."""
    redactor = redactor_of(environment, agent)
    cause, opening = occasion.cause, occasion.opening
    session = opening[0] if opening else agent.session
    needs = cause.needs if isinstance(cause, AgentNeedsYou) else None
    content = EventFields(
        event=occasion.event,
        id=occasion.id,
        at=occasion.at,
        text=occasion.text,
        context=_context(agent) if opening is None else ContextFields(),
        session=_session(agent, session, opening is not None),
        repo_root=_main_checkout(Path(agent.record.directory)),
        worktree=agent.record.worktree,
        cwd=str(agent.directory),
        original_prompt=agent.job.prompt if agent.job else None,
        prompt=opening[1] if opening else None,
        handoff=_handoff(agent, cause),
        outcome=occasion.outcome,
        needs=asdict(needs) if needs is not None else None,
        mode=agent.settings.mode,
    )
    clean = payload(content, lambda free: redactor.redact(free).text)
    return Happening(occasion.event, clean, clean["text"])


def _context(agent: Agent) -> ContextFields:
    reading = agent.session_state.gauge.reading
    return context_fields(
        reading.tokens,
        reading.window,
        agent.session_state.model,
        agent.band.value,
        reading.confidence.value,
    )


def _session(agent: Agent, session: SessionRecord | None, opening: bool) -> SessionFields:
    count = agent.handoffs + (1 if opening and agent.handoff is not None else 0)
    return SessionFields(
        session_id=session.id if session else None,
        agent_name=agent.name,
        job_id=agent.record.job,
        working_directory=str(agent.directory),
        worktree_path=agent.record.worktree,
        branch_name=agent.record.branch,
        is_continuation=bool(session and (session.previous or session.document)),
        previous_session_id=session.previous if session else None,
        handoff_count=count,
        transcript_path=session.transcript if session else None,
    )


def _handoff(agent: Agent, cause: Event | None) -> HandoffFields | None:
    """Return the handoff in progress for a payload; None if there is none.

    Data in the event `cause` takes precedence, because the record may be older.
    """
    record = agent.handoff_record
    if record is None:
        return None
    document = cause.document if isinstance(cause, HandoffDocument | HandoffOver) else None
    writer = cause.writer if isinstance(cause, HandoffDocument) else None
    done = record.outcome == "done"
    return HandoffFields(
        handoff_id=record.id,
        reason=record.reason,
        old_session_id=record.old_session,
        new_session_id=record.new_session,
        handoff_number=agent.handoffs + (0 if done else 1),
        document=document or record.document,
        writer=writer or record.writer,
    )


def _main_checkout(directory: Path) -> str | None:
    """Return the repository's main checkout, even if the directory is in a worktree.

    None outside a repository; the worktree if its main checkout is unknown.
    """
    root = repository_root(directory)
    if root is None or (root / ".git").is_dir():
        return str(root) if root else None
    try:
        pointer = read_text(root / ".git", 4096, cut=True).strip()
    except OSError:
        return str(root)
    folder = Path(pointer.removeprefix("gitdir:").strip())
    is_linked = folder.parent.name == "worktrees" and folder.parent.parent.name == ".git"
    return str(folder.parent.parent.parent) if is_linked else str(root)

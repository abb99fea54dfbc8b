"""Store the history of a job that was moved to this machine.

The chain is sent by the other machine and is not trusted. Its paths are not used: the documents are
cockpit's own copies, which were received earlier. Existing records are not changed, so a job that
returns to this machine keeps its sessions, and a repeated request changes nothing. Times that the
other machine did not send stay unknown.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.documents.files import Documents
from cockpit.adapters.files.foreign_files import is_file, read_file
from cockpit.core.document import LARGEST
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.handoff.details import HandoffDetails, Leaving
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import SESSION_PATTERN, AgentName, HandoffId, JobId, SessionId
from cockpit.core.safetext import safe_line
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.document_chains import UNKNOWN, seconds
from cockpit.supervisor.history.memories import LED_NOWHERE
from cockpit.supervisor.sessions.inheritance import Predecessor
from cockpit.wire.history import HistoryChain, HistoryHandoff, HistorySession

MOST_SESSIONS = 500
"""Maximum number of sessions of a chain that are stored; the newest are stored."""
STATES = frozenset({"handed_off", "ended", "undone", "failed"})
"""States that are kept for a session of another machine; other states become `ended`."""

NOT_KNOWN = 0.0
"""Stands for a time that the other machine did not send. Not None, because a session whose end is
None counts as still running."""

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


async def store_chain(
    dependencies: Dependencies, agent: AgentName, chain: HistoryChain, handoff: str, origin: str
) -> Predecessor:
    """Store the chain as the agent's own; return the job and session that the agent continues.

    `handoff` is the id of the handoff that moved the job, `origin` the machine from which the job
    came. Raises `BadUsage` if the chain is not valid, or would change another agent's history.
    """
    arrived = _Arrived(dependencies, agent, chain, origin)
    old = arrived.check(handoff)
    copies = await asyncio.to_thread(arrived.read_copies)
    return arrived.store(copies, old)


def confirm_arrival(dependencies: Dependencies, agent: Agent, handoff: str) -> None:
    """Record that the agent's session followed the handoff. Idempotent.

    Raises `NotNow` if the agent does not continue that handoff's job.
    """
    store = dependencies.store
    record = store.handoff(HandoffId(handoff))
    session = agent.session
    if record is None or session is None or session.previous != record.old_session:
        raise NotNow(
            f"{agent.name} does not continue this handoff",
            f"The history from the other machine does not contain the job of {agent.name}.",
            f"See: cockpit history {agent.name}",
        )
    old = store.session(record.old_session)
    if record.outcome == Outcome.DONE.value or old is None:
        return
    now = dependencies.clock.now().timestamp()
    with store.transaction():
        done = replace(record, outcome=Outcome.DONE.value, why=None, ended=now)
        store.save_handoff(replace(done, new_session=session.id))
        store.save_session(replace(old, state="handed_off", ended=now))
    agent.handoffs += 1
    agent.read_chain(store, session.job)


class _Arrived:
    """A chain from another machine, and this machine's records of the same job."""

    def __init__(
        self, dependencies: Dependencies, agent: AgentName, chain: HistoryChain, origin: str
    ) -> None:
        self._store = dependencies.store
        self._documents = dependencies.documents
        self._agent = agent
        self._chain = chain
        self._origin = safe_line(origin, 80)
        self._sessions = chain.sessions[-MOST_SESSIONS:]

    def check(self, handoff: str) -> HistorySession:
        """Return the session that the handoff ends. Raises `BadUsage`; see `store_chain`."""
        entries = [entry for session in self._sessions for entry in session.handoffs]
        idents = [self._chain.job, *(entry.id for entry in entries)]
        if not all(_ID.fullmatch(ident) for ident in idents):
            raise _refused("An id is not valid.")
        if not all(seconds(entry.created) for entry in entries):
            raise _refused("The time of a handoff is not valid.")
        if not all(SESSION_PATTERN.fullmatch(session.id) for session in self._sessions):
            raise _refused("The id of a session is not valid.")
        held = self._store.job(JobId(self._chain.job))
        owners = {held.agent} if held is not None else set()
        for session in self._sessions:
            known = self._store.session(session.id)
            owners |= {known.agent} if known is not None else set()
            for entry in session.handoffs:
                stored = self._store.handoff(entry.id)
                if stored is not None and stored.old_session != session.id:
                    raise _refused(f"The handoff {entry.id} ended another session.")
        if others := owners - {self._agent}:
            named = sorted(others)[0]
            raise _refused(
                f"Sessions of this job are in the history of {', '.join(sorted(others))}.",
                f"Use the name that the job has here: cockpit move NAME --to HOST --name {named}",
            )
        for session in self._sessions:
            if any(entry.id == handoff for entry in session.handoffs):
                return session
        raise _refused("The history does not contain the handoff that moved the job.")

    def read_copies(self) -> dict[str, tuple[Path, str]]:
        """Return the path and SHA-256 of each document's copy, by the handoff's id. Blocks."""
        copies = {}
        for session in self._sessions:
            for handoff in session.handoffs:
                if (copy := _copy(self._documents, handoff.id)) is not None:
                    copies[handoff.id] = copy
        return copies

    def store(self, copies: dict[str, tuple[Path, str]], old: HistorySession) -> Predecessor:
        store, job = self._store, JobId(self._chain.job)
        with store.transaction():
            held = store.job(job)
            if held is None:
                began = seconds(self._chain.started_at or "") or NOT_KNOWN
                held = JobRecord(job, self._agent, self._chain.goal, began)
                store.add_job(held)
            previous: SessionRecord | None = None
            document: str | None = None
            for place, session in enumerate(self._sessions):
                record = store.session(session.id) or self._session(session, previous, document)
                store.save_session(record)
                later = self._sessions[place + 1 :]
                for handoff in session.handoffs:
                    if store.handoff(handoff.id) is None:
                        store.save_handoff(
                            self._handoff(session, handoff, copies.get(handoff.id), later)
                        )
                if session.state not in LED_NOWHERE:
                    previous = record
                    last = session.handoffs[-1].id if session.handoffs else ""
                    document = str(copies[last][0]) if last in copies else None
        return Predecessor(held, SessionId(old.id))

    def _session(
        self, session: HistorySession, previous: SessionRecord | None, document: str | None
    ) -> SessionRecord:
        return SessionRecord(
            id=SessionId(session.id),
            agent=self._agent,
            job=JobId(self._chain.job),
            number=session.number,
            previous=previous.id if previous is not None else None,
            run="",
            created=seconds(session.started_at or "") or NOT_KNOWN,
            document=document,
            state=session.state if session.state in STATES else "ended",
            cost_usd=session.cost_usd,
            tokens=session.tokens,
            compactions=session.compactions,
            ended=seconds(session.ended_at or "") or NOT_KNOWN,
            runtime=session.runtime,
        )

    def _handoff(
        self,
        session: HistorySession,
        handoff: HistoryHandoff,
        copy: tuple[Path, str] | None,
        later: Sequence[HistorySession],
    ) -> HandoffRecord:
        created = seconds(handoff.created) or NOT_KNOWN
        done = handoff.outcome == Outcome.DONE.value
        return HandoffRecord(
            id=HandoffId(handoff.id),
            agent=self._agent,
            job=JobId(self._chain.job),
            old_session=SessionId(session.id),
            reason=handoff.reason or "manual",
            created=created,
            boot="",
            record={},
            details=HandoffDetails(
                moved_from=session.machine or self._origin,
                left=Leaving(tokens=handoff.tokens) if handoff.tokens is not None else None,
                tokens_before=handoff.tokens_before,
                tokens_after=handoff.tokens_after,
                document_bytes=handoff.document_bytes,
            ),
            ended=seconds(handoff.ended or "") or NOT_KNOWN,
            outcome=handoff.outcome or UNKNOWN,
            why=handoff.why
            if handoff.outcome
            else f"the outcome on {self._origin} is not confirmed",
            new_session=_follower(created, later) if done else None,
            document=str(copy[0]) if copy else None,
            copy=str(copy[0]) if copy else None,
            sha256=copy[1] if copy else None,
            writer=handoff.writer,
        )


def _follower(created: float, later: Iterable[HistorySession]) -> SessionId | None:
    """Return the first session, except failed ones, that started after a handoff began."""
    started = (
        SessionId(session.id)
        for session in later
        if session.state != "failed" and (seconds(session.started_at or "") or 0.0) >= created
    )
    return next(started, None)


def _copy(documents: Documents, ident: str) -> tuple[Path, str] | None:
    for path in (documents.copies.path(ident), documents.copies.archived(ident)):
        if is_file(path):
            data = read_file(path, LARGEST)
            return path, hashlib.sha256(data).hexdigest()
    return None


def _refused(why: str, hint: str = "Use the same version of cockpit on both machines.") -> BadUsage:
    return BadUsage("Cannot add the history of the moved job to this machine", why, hint)

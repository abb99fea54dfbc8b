"""Read the history: chains of sessions, and their documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cockpit.adapters.documents.checked_reads import read_chosen, read_sealed
from cockpit.adapters.files.foreign_files import is_file
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.handoff.states import CONFIRMED
from cockpit.core.ids import HandoffId, JobId
from cockpit.core.safetext import safe_line
from cockpit.core.search import excerpt, words
from cockpit.core.timestamps import rfc3339
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.session_machine import machine_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.memories import ChainMemories
from cockpit.supervisor.history.search_index import SearchIndex
from cockpit.wire.history import HistoryChain, HistoryDocument, HistoryHandoff, HistorySession

T = TypeVar("T")

SESSIONS_AT_ONCE = 50
"""Number of sessions that are built before other requests are served."""

WENT_BACK = frozenset({"undoing", "undone"})
"""States of a session that the user left with an undo."""
DOCUMENT_SECONDS = 5.0
"""Time limit for reading one document, in seconds."""


class History:
    """Reads the history from the database and the documents."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet, index: SearchIndex) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._index = index
        self._memories = ChainMemories(dependencies)

    def jobs_of(self, name: str | None) -> list[JobRecord]:
        """Return the jobs of one agent or of all, oldest first. Raises `NoSuchAgent`."""
        jobs = self._dependencies.store.jobs(name)
        if name is not None and not jobs:
            self._fleet.agent(name)
        return jobs

    async def chains(self, jobs: Iterable[JobRecord]) -> AsyncIterator[HistoryChain]:
        """Yield each job with its sessions in order. Other requests are served between jobs."""
        for job in jobs:
            yield await self._chain(job)
            await asyncio.sleep(0)

    def page(self, name: str | None, limit: int, before: str | None) -> Page:
        """Return a page with the newest `limit` jobs; with `before`, a job's id, only older jobs.

        Raises `BadUsage` for an unknown cursor.
        """
        jobs = self.jobs_of(name)
        end = len(jobs)
        if before is not None:
            end = next((place for place, job in enumerate(jobs) if job.id == before), -1)
            if end < 0:
                raise BadUsage("Unknown cursor: no job has this id", "", "Leave out `before`.")
        start = max(0, end - limit)
        total = self._dependencies.store.count_handoffs(name)
        older = str(jobs[start].id) if start else None
        return Page(self.chains(jobs[start:end]), older, total)

    def handoff_page(self, name: str | None, limit: int, before: str | None) -> Page:
        """Return a page with the newest `limit` handoffs.

        With `before`, the id of a handoff, only older handoffs. The page's chains contain only
        these handoffs. Raises `BadUsage` for an unknown cursor.
        """
        store = self._dependencies.store
        self.jobs_of(name)
        if before is not None and store.handoff(HandoffId(before)) is None:
            raise BadUsage("Unknown cursor: no handoff has this id", "", "Leave out `before`.")
        records = store.newest_handoffs(name, limit + 1, before)
        shown = records[:limit]
        older = str(shown[-1].id) if len(records) > limit else None
        return Page(self._chains_with(shown), older, store.count_handoffs(name))

    async def _chains_with(self, shown: Iterable[HandoffRecord]) -> AsyncIterator[HistoryChain]:
        """Yield the chains of these handoffs, with only these handoffs and their old sessions."""
        store = self._dependencies.store
        by_job: dict[JobId, dict[str, list[HandoffRecord]]] = {}
        for handoff in shown:
            by_session = by_job.setdefault(handoff.job, {})
            by_session.setdefault(str(handoff.old_session), []).insert(0, handoff)
        for ident, by_session in by_job.items():
            job = store.job(ident)
            if job is None:
                continue
            sessions = []
            for place, (of_session, wanted) in enumerate(by_session.items()):
                if place % SESSIONS_AT_ONCE == SESSIONS_AT_ONCE - 1:
                    await asyncio.sleep(0)
                session = store.session(of_session)
                if session is not None:
                    own = store.handoffs_of(ident, of_session)
                    sessions.append(self._session(job, session, own, wanted))
            sessions.sort(key=lambda session: session.number)
            yield _empty_chain(job).model_copy(update={"sessions": sessions})
            await asyncio.sleep(0)

    async def search(self, typed: str, name: str | None) -> list[HistoryChain]:
        """Return the chains that have documents with all words of `typed`.

        Each chain contains only the handoffs of these documents, with excerpts, and the chain's
        matching statements. Finds at most the newest 200 documents. Without words, returns all
        chains.
        """
        wanted = words(typed)
        jobs = self.jobs_of(name)
        if not wanted:
            return [chain async for chain in self.chains(jobs)]
        await self._index.catch_up()
        hits = self._index.table.find(wanted, name)
        excerpts = {hit.handoff: excerpt(hit.text.partition("\n")[2], wanted) for hit in hits}
        store = self._dependencies.store
        job_ids = {record.job for ident in excerpts if (record := store.handoff(HandoffId(ident)))}
        jobs = [job for job in jobs if job.id in job_ids]
        all_chains = self.chains(jobs)
        chains = [match async for chain in all_chains if (match := _matching(chain, excerpts))]
        return [
            chain.model_copy(
                update={"statements": await self._memories.matching(JobId(chain.job), wanted)}
            )
            for chain in chains
        ]

    async def _chain(self, job: JobRecord) -> HistoryChain:
        store = self._dependencies.store
        all_handoffs = await _collect(store.each_handoff(job.id))
        rebuilt = [handoff for handoff in all_handoffs if handoff.details.rebuilt]
        rebuilt_sessions = {
            session for handoff in rebuilt for session in (handoff.old_session, handoff.new_session)
        }
        by_session: dict[str, list[HandoffRecord]] = {}
        for handoff in all_handoffs:
            by_session.setdefault(handoff.old_session, []).append(handoff)
        start_tokens = {
            handoff.new_session: handoff.details.tokens_after for handoff in all_handoffs
        }
        records = await _collect(store.each_session(job.id))
        sessions = []
        for place, session in enumerate(records):
            if place % SESSIONS_AT_ONCE == 0:
                await asyncio.sleep(0)
            own = by_session.get(session.id, [])
            only_whole = {
                "tokens_at_start": start_tokens.get(session.id),
                "rebuilt": session.id in rebuilt_sessions,
            }
            sessions.append(self._session(job, session, own, own).model_copy(update=only_whole))
        return _empty_chain(job).model_copy(
            update={
                "handoffs": sum(handoff.outcome in CONFIRMED for handoff in all_handoffs),
                "rebuilt": bool(rebuilt),
                "sessions": sessions,
            }
        )

    def _session(
        self,
        job: JobRecord,
        session: SessionRecord,
        own: list[HandoffRecord],
        shown: list[HandoffRecord],
    ) -> HistorySession:
        """Build a session; `own`: all handoffs of the session, `shown`: the handoffs to list."""
        agent = self._fleet.find(job.agent)
        with_document = [handoff for handoff in own if handoff.document]
        last = with_document[-1] if with_document else None
        now = agent is not None and agent.record.session == session.id
        return HistorySession(
            id=session.id,
            cli_id=session.cli_id,
            number=session.number,
            runtime=session.runtime,
            state=session.state,
            document=last.document if last else None,
            documents=[_document_entry(handoff) for handoff in shown if handoff.document],
            handoffs=[_handoff(handoff, self._new_session(handoff)) for handoff in shown],
            handoff=last.id if last else None,
            writer=last.writer if last else None,
            outcome=last.outcome if last else None,
            answered_by=(last.details.answered_by or None) if last else None,
            cost_usd=agent.cost_usd if agent and now else _session_cost(session, own),
            tokens=agent.session_state.gauge.tokens if agent and now else session.tokens,
            compactions=session.compactions,
            began_with=session.document,
            started_at=rfc3339(session.created) if session.created else None,
            ended_at=rfc3339(session.ended) if session.ended else None,
            transcript=session.transcript,
            machine=machine_of(own),
        )

    def _new_session(self, handoff: HandoffRecord) -> SessionRecord | None:
        if handoff.new_session is None:
            return None
        return self._dependencies.store.session(handoff.new_session)

    async def document(
        self, named: str, only: str | None = None, *, for_agent: bool = False
    ) -> str:
        """Return the text of a handoff's document, else of a copy or of cockpit's draft from facts.

        `named`: the id, a unique prefix of the id, or the document's path. `only`: see `agent_of`.
        With `for_agent`, a symlink in the worktree is not followed, because the agent could have
        created it. Raises `NoSuchAgent`, `BadUsage`, and `NoAnswer` if the file system does not
        answer.
        """
        record = self._named(named, only)
        parts = self._dependencies
        path, copies = Path(record.document) if record.document else None, self._copies(record)
        read = partial(_first_document, path, copies, plain=for_agent)
        text = await parts.slow.ask(("document", record.id), read, DOCUMENT_SECONDS)
        if text is not None:
            return text
        raise NoSuchAgent(
            f"The handoff {record.id} has no document",
            record.why or "The document is not written yet, or it was removed and has no copy.",
            hint="To list the handoffs with a document: cockpit history",
        )

    def agent_of(self, named: str, only: str | None = None) -> str:
        """Return a handoff's agent; `named` as in `document`. Raises `NoSuchAgent`, `BadUsage`.

        With `only`, the name of an agent, handoffs of other agents do not make `named` ambiguous.
        """
        return self._named(named, only).agent

    def _named(self, named: str, only: str | None) -> HandoffRecord:
        handoffs = self._dependencies.store.handoffs_named(named) if named else []
        if only is not None:
            handoffs = [handoff for handoff in handoffs if handoff.agent == only] or handoffs[:1]
        if len(handoffs) == 1:
            return handoffs[0]
        shown = safe_line(named, 200)
        if not handoffs:
            raise NoSuchAgent(
                f"There is no handoff {shown!r}", "", "List the handoffs: cockpit history"
            )
        raise BadUsage(
            f"{len(handoffs)} handoffs match {shown!r}",
            "\n".join(f"{handoff.id}  {handoff.agent}" for handoff in handoffs[:10]),
            "Use one of these ids.",
        )

    def _copies(self, record: HandoffRecord) -> list[Path]:
        """Return the paths of the copies and of the draft of facts, in the state folder."""
        archived = self._dependencies.documents.copies.archived(record.id)
        named = (record.copy, record.details.draft_facts)
        return [*(Path(path) for path in named if path), archived]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the history. `next` is the cursor of the next older page; None if there is none."""

    chains: AsyncIterator[HistoryChain]
    next: str | None
    total: int
    """Number of handoffs on all pages."""


def _matching(chain: HistoryChain, excerpts: Mapping[str, str]) -> HistoryChain | None:
    """Return the chain with only the handoffs in `excerpts` and their sessions.

    None if the chain has none of these handoffs.
    """
    sessions = []
    for session in chain.sessions:
        documents = [document for document in session.documents if document.id in excerpts]
        handoffs = [
            handoff.model_copy(update={"found": excerpts[handoff.id]})
            for handoff in session.handoffs
            if handoff.id in excerpts
        ]
        if handoffs:
            only = {"documents": documents, "handoffs": handoffs}
            sessions.append(session.model_copy(update=only))
    return chain.model_copy(update={"sessions": sessions}) if sessions else None


async def _collect(records: Iterable[T]) -> list[T]:
    """Return all records as a list. Other requests are served in between."""
    items: list[T] = []
    for record in records:
        if len(items) % SESSIONS_AT_ONCE == SESSIONS_AT_ONCE - 1:
            await asyncio.sleep(0)
        items.append(record)
    return items


def _empty_chain(job: JobRecord) -> HistoryChain:
    """Return the chain of a job without its sessions."""
    began = rfc3339(job.created) if job.created else None
    return HistoryChain(agent=job.agent, job=job.id, goal=job.prompt, started_at=began)


def _session_cost(session: SessionRecord, own: list[HandoffRecord]) -> float | None:
    """Return the known cost of a session, including the copies that wrote its documents."""
    copies = sum(handoff.details.writer_cost_usd for handoff in own)
    return session.cost_usd if not copies else (session.cost_usd or 0.0) + copies


def _document_entry(handoff: HandoffRecord) -> HistoryDocument:
    return HistoryDocument(
        id=handoff.id,
        path=handoff.document,
        outcome=handoff.outcome,
        writer=handoff.writer,
        answered_by=handoff.details.answered_by or None,
    )


def _handoff(record: HandoffRecord, new: SessionRecord | None) -> HistoryHandoff:
    details = record.details
    left = details.left.tokens if details.left is not None else None
    return HistoryHandoff(
        id=record.id,
        reason=record.reason,
        created=rfc3339(record.created),
        ended=rfc3339(record.ended) if record.ended else None,
        outcome=record.outcome,
        answered_by=details.answered_by or None,
        undone=new is not None and new.state in WENT_BACK,
        new_session_number=new.number if new is not None else None,
        why=record.why,
        document=record.document,
        own_copy=record.copy,
        writer=record.writer,
        tokens=left if details.tokens_before is None else details.tokens_before,
        tokens_before=details.tokens_before,
        tokens_after=details.tokens_after,
        document_bytes=details.document_bytes,
        **_first_turns(record),
    )


def _first_turns(record: HandoffRecord) -> dict[str, Any]:
    """Return the check of the new session's first turns; empty if they were not checked."""
    result = record.details.first_turns
    if result is None:
        return {}
    return {
        "document_read": result.read,
        "first_change_seconds": result.first_change,
        "repeats": list(result.repeats),
        "broken_orders": list(result.broken),
        "asked_again": list(result.asked_again),
    }


def _first_document(path: Path | None, copies: Sequence[Path], *, plain: bool) -> str | None:
    """Return the text of the document, else of its first copy; None if neither exists. Blocks.

    With `plain`, a document behind a symbolic link is treated as missing.
    """
    if path is not None and is_file(path):
        if not plain:
            return read_chosen(path)
        with suppress(BadUsage):
            return read_sealed(path)
    return next((read_chosen(copy) for copy in copies if is_file(copy)), None)

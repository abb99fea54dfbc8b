"""What was: chains of sessions, documents, and the facts of a session as it stands.

Only looks. The shapes are those of `cockpit history --json` and `cockpit facts --json`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cockpit.adapters.documents.files import Documents
from cockpit.adapters.files.foreign_files import is_file
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.facts import CommitMade, Facts
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import HandoffId, JobId
from cockpit.core.safetext import safe_line
from cockpit.core.search import excerpt, words
from cockpit.core.session_report import facts_report, usage_report
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import rfc3339
from cockpit.supervisor.history.search_index import SearchIndex

T = TypeVar("T")

Chain = dict[str, Any]
"""A job with its sessions, as `cockpit history --json` has it."""

SESSIONS_AT_ONCE = 50
"""Sessions of one job that are put together until others are served."""

DOCUMENT_SECONDS = 5.0
"""The time that reading one document may take."""


class History:
    """Reads what was."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        index: SearchIndex,
        facts_of: Callable[[Agent], Facts],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._index = index
        self._facts_of = facts_of

    def jobs_of(self, name: str | None) -> list[JobRecord]:
        """The jobs of one agent or of all, oldest first. Raises `NoSuchAgent`."""
        jobs = self._dependencies.store.jobs(name)
        if name is not None and not jobs:
            self._fleet.agent(name)
        return jobs

    async def chains(self, jobs: Iterable[JobRecord]) -> AsyncIterator[Chain]:
        """Each job with its sessions in order. Others are served between two of them."""
        for job in jobs:
            yield await self._chain(job)
            await asyncio.sleep(0)

    def page(self, name: str | None, limit: int, before: str | None) -> Page:
        """The newest `limit` jobs that are older than the job `before`, or than nothing.

        A cursor that no job has is refused with `BadUsage`.
        """
        jobs = self.jobs_of(name)
        end = len(jobs)
        if before is not None:
            end = next((place for place, job in enumerate(jobs) if job.id == before), -1)
            if end < 0:
                raise BadUsage("No job has the id of this cursor", "", "Ask without `before`.")
        start = max(0, end - limit)
        total = self._dependencies.store.count_handoffs(name)
        older = str(jobs[start].id) if start else None
        return Page(self.chains(jobs[start:end]), older, total)

    def handoff_page(self, name: str | None, limit: int, before: str | None) -> Page:
        """The newest `limit` handoffs, or those older than the handoff `before`.

        In chains with these handoffs alone. Raises `BadUsage` for a cursor that no handoff has.
        """
        store = self._dependencies.store
        self.jobs_of(name)
        if before is not None and store.handoff(HandoffId(before)) is None:
            raise BadUsage("No handoff has the id of this cursor", "", "Ask without `before`.")
        found = store.newest_handoffs(name, limit + 1, before)
        shown = found[:limit]
        older = str(shown[-1].id) if len(found) > limit else None
        return Page(self._chains_with(shown), older, store.count_handoffs(name))

    async def _chains_with(self, shown: Iterable[HandoffRecord]) -> AsyncIterator[Chain]:
        """The chains of these handoffs, each with them alone and the sessions that began them."""
        store = self._dependencies.store
        by_job: dict[JobId, dict[str, list[HandoffRecord]]] = {}
        for each in shown:
            by_job.setdefault(each.job, {}).setdefault(str(each.old_session), []).insert(0, each)
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
            sessions.sort(key=lambda each: int(each["number"]))
            yield {**_heading(job), "sessions": sessions}
            await asyncio.sleep(0)

    async def search(self, typed: str, name: str | None) -> list[dict[str, Any]]:
        """Chains of the documents that contain all the words, each with an excerpt around them.

        No words are in every document. The newest 200 documents at most.
        """
        wanted = words(typed)
        jobs = self.jobs_of(name)
        if not wanted:
            return [chain async for chain in self.chains(jobs)]
        await self._index.catch_up()
        hits = self._index.table.find(wanted, name)
        found = {hit.handoff: excerpt(hit.text.partition("\n")[2], wanted) for hit in hits}
        store = self._dependencies.store
        theirs = {record.job for each in found if (record := store.handoff(HandoffId(each)))}
        jobs = [job for job in jobs if job.id in theirs]
        return [held async for chain in self.chains(jobs) if (held := _holding(chain, found))]

    async def _chain(self, job: JobRecord) -> Chain:
        store = self._dependencies.store
        all_handoffs = await _in_turns(store.each_handoff(job.id))
        rebuilt = [each for each in all_handoffs if each.details.rebuilt]
        read_back = {each for one in rebuilt for each in (one.old_session, one.new_session)}
        left_by: dict[str, list[HandoffRecord]] = {}
        for each in all_handoffs:
            left_by.setdefault(each.old_session, []).append(each)
        begun = {each.new_session: each.details.tokens_after for each in all_handoffs}
        records = await _in_turns(store.each_session(job.id))
        sessions = []
        for place, session in enumerate(records):
            if place % SESSIONS_AT_ONCE == 0:
                await asyncio.sleep(0)
            own = left_by.get(session.id, [])
            sessions.append(
                {
                    **self._session(job, session, own, own),
                    "tokens_at_start": begun.get(session.id),
                    "rebuilt": session.id in read_back,
                }
            )
        return {
            **_heading(job),
            "handoffs": sum(each.outcome == Outcome.DONE.value for each in all_handoffs),
            "rebuilt": bool(rebuilt),
            "sessions": sessions,
        }

    def _session(
        self,
        job: JobRecord,
        session: SessionRecord,
        own: list[HandoffRecord],
        shown: list[HandoffRecord],
    ) -> dict[str, Any]:
        """A session with those of its `own` handoffs that are shown."""
        agent = self._fleet.find(job.agent)
        papers = [each for each in own if each.document]
        left = papers[-1] if papers else None
        now = agent is not None and agent.record.session == session.id
        return {
            "id": session.id,
            "number": session.number,
            "state": session.state,
            "document": left.document if left else None,
            "documents": [_paper(each) for each in shown if each.document],
            "handoffs": [_handoff(each) for each in shown],
            "handoff": left.id if left else None,
            "writer": left.writer if left else None,
            "outcome": left.outcome if left else None,
            "cost_usd": agent.cost_usd if agent and now else _cost(session, own),
            "tokens": agent.session_state.gauge.tokens if agent and now else session.tokens,
            "compactions": session.compactions,
            "began_with": session.document,
            "started_at": rfc3339(session.created),
            "ended_at": rfc3339(session.ended) if session.ended else None,
            "transcript": session.transcript,
        }

    async def document(self, named: str) -> str:
        """The text of a handoff's document, from the worktree or our copy; else its draft of facts.

        `named` is the id, the beginning of one that no other has, or the document's path.
        """
        record = self._named(named)
        parts = self._dependencies
        read = partial(_first_document, parts.documents, self._places(record))
        text = await parts.slow.ask(("document", record.id), read, DOCUMENT_SECONDS)
        if text is not None:
            return text
        raise NoSuchAgent(
            f"The handoff {record.id} has no document",
            record.why
            or "It was not written yet, or it is gone from the worktree and was not kept.",
        )

    def agent_of(self, named: str) -> str:
        """Whose handoff that is; see `document` for the name. Raises `NoSuchAgent`, `BadUsage`."""
        return self._named(named).agent

    def _named(self, named: str) -> HandoffRecord:
        found = self._dependencies.store.handoffs_named(named) if named else []
        if len(found) == 1:
            return found[0]
        shown = safe_line(named, 200)
        if not found:
            raise NoSuchAgent(f"There is no handoff {shown!r}", "", "List them: cockpit history")
        raise BadUsage(
            f"{len(found)} handoffs begin with {shown!r}",
            "\n".join(f"{each.id}  {each.agent}" for each in found[:10]),
            "Give more characters of the id.",
        )

    def _places(self, record: HandoffRecord) -> list[Path]:
        copies = self._dependencies.documents.copies
        named = (record.document, record.copy, record.details.draft_facts)
        return [*(Path(path) for path in named if path), copies.archived(record.id)]

    async def facts(self, agent: Agent) -> dict[str, Any]:
        """The session's facts, now: its goal is the job's, its commits are git's."""
        git = await self._dependencies.worktrees.facts(
            agent.directory, since_commit=agent.job.base_commit if agent.job else None
        )
        found = replace(
            self._facts_of(agent),
            commits=tuple(CommitMade(each.hash, each.subject) for each in git.commits),
        )
        if agent.job is not None and agent.job.prompt:
            found = replace(found, goal=agent.job.prompt)
        session = agent.session
        usage = usage_report(
            (session.transcript if session else None) or "",
            agent.session_state.reading.meter,
            agent.session_state.gauge.window,
            agent.record.session,
        )
        return facts_report(
            found,
            usage,
            git_status=git.status if git.root is not None and git.status_known else None,
            branch=git.branch,
            head=git.head,
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Part of the history. `next` is the cursor of the page with older ones; None on the last."""

    chains: AsyncIterator[Chain]
    next: str | None
    total: int
    """Handoffs of all pages together."""


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


async def _in_turns(records: Iterable[T]) -> list[T]:
    """All of them. Others are served now and then."""
    found: list[T] = []
    for record in records:
        if len(found) % SESSIONS_AT_ONCE == SESSIONS_AT_ONCE - 1:
            await asyncio.sleep(0)
        found.append(record)
    return found


def _heading(job: JobRecord) -> Chain:
    return {
        "agent": job.agent,
        "job": job.id,
        "goal": job.prompt,
        "started_at": rfc3339(job.created),
    }


def _cost(session: SessionRecord, own: list[HandoffRecord]) -> float | None:
    """What a session has cost, with what copies of it did that wrote its documents."""
    aside = sum(each.details.writer_cost_usd for each in own)
    return session.cost_usd if not aside else (session.cost_usd or 0.0) + aside


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
        "tokens_after": record.details.tokens_after,
    }


def _first_document(documents: Documents, places: Sequence[Path]) -> str | None:
    """Blocks on the disk."""
    return next((documents.read(path) for path in places if is_file(path)), None)

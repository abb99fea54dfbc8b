"""Archive documents, copy transcripts of ended sessions, and remove both after they expire.

Only cockpit's own copies are archived and removed. Files in worktrees belong to the user, and the
database rows of chains are kept forever. Each run does everything that is due, so a missed run does
no harm.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from cockpit.adapters.documents.compaction_facts import CompactionDocuments
from cockpit.adapters.store.search import SearchTable
from cockpit.adapters.transcripts.copies import KeptRecords
from cockpit.adapters.transcripts.lines import Parse
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.collect import Collector
from cockpit.core.ids import JobId
from cockpit.core.redaction import Redactor
from cockpit.core.session import PromptFileTaken, SessionEvent, Skipped, UserSaid
from cockpit.core.session_report import facts_report
from cockpit.ports.records import HandoffRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import redactor_of, redactor_without_agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.compaction import compaction_folder

LOOK = 3600.0
"""Seconds between two runs of the retention; the first run is at the start. CLIs keep transcripts
for 30 days, so a transcript is copied in time."""
KEEP_SECONDS = 120.0
"""Time limit for copying one transcript, in seconds."""
DAY = 86_400.0
RECENT = 40 * DAY
"""A transcript is copied only if its session ended at most this many seconds ago. Facts that were
saved before a compaction are removed after the same time."""

_log = logging.getLogger(__name__)


class Retention:
    """Copies transcripts, archives copies of documents, and removes both when they expire."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._kept = KeptRecords(dependencies.places.state / "records")
        self._compactions = CompactionDocuments(compaction_folder(dependencies.places))

    async def run(self) -> None:
        """Run every `LOOK` seconds, until cancelled. Logs the errors of single files."""
        while True:
            await self.look()
            await self._dependencies.clock.sleep(LOOK)

    async def look(self) -> None:
        """Archive, copy and remove everything that is due. Idempotent."""
        open_jobs = {agent.record.job for agent in self._fleet if agent.record.job}
        for handoff in self._dependencies.store.handoffs_with_copy():
            if handoff.job not in open_jobs and handoff.ended is not None:
                await self._log_errors(self._archive(handoff))
        for session in self._dependencies.store.sessions_over(self._now() - RECENT):
            if not self._is_expired(session.job, open_jobs):
                await self._log_errors(self._keep(session))
        for ident in await asyncio.to_thread(self._kept.sessions):
            held = self._dependencies.store.session(ident)
            if held is None or self._is_expired(held.job, open_jobs):
                await self._log_errors(asyncio.to_thread(self._kept.forget, ident))
        await self._log_errors(self._clear_unreferenced())
        oldest = self._now() - RECENT
        await self._log_errors(asyncio.to_thread(self._compactions.forget, oldest))

    async def _log_errors(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 - the other files must be archived
            _log.warning("a copy could not be made, archived or removed", exc_info=True)

    async def _archive(self, handoff: HandoffRecord) -> None:
        """Archive the copy of a finished job's document, or remove an expired copy."""
        documents, store = self._dependencies.documents, self._dependencies.store
        if self._is_expired(handoff.job, set()):
            await asyncio.to_thread(documents.copies.forget, handoff.id)
            store.save_handoff(replace(handoff, copy=None))
            SearchTable(store).clear(handoff.id)
            return
        place = await asyncio.to_thread(documents.copies.archive, handoff.id)
        if place is not None and str(place) != handoff.copy:
            store.save_handoff(replace(handoff, copy=str(place)))

    async def _clear_unreferenced(self) -> None:
        """Remove expired copies and drafts that no stored handoff uses.

        `cockpit continue` makes such copies.
        """
        named = {handoff.id for handoff in self._dependencies.store.handoffs_with_copy()}
        named |= {handoff.id for handoff in self._dependencies.store.open_handoffs()}
        days = self._default_days()
        if days > 0:
            oldest = self._now() - days * DAY
            await asyncio.to_thread(self._dependencies.documents.copies.clear_strays, named, oldest)

    async def _keep(self, session: SessionRecord) -> None:
        """Copy the transcript of an ended session, unless the copy is current."""
        agent = self._fleet.find(session.agent)
        redactor = self._redactor(agent)
        parse = runtime_of(self._dependencies.runtimes, agent, session).parse if agent else None
        keep = partial(self._keep_now, session, redactor, parse)
        await self._dependencies.slow.ask(("record of", session.id), keep, KEEP_SECONDS)

    def _redactor(self, agent: Agent | None) -> Redactor:
        """Return the redactor of the agent; for a removed agent (None), a redactor without the
        agent's secrets."""
        if agent is not None:
            return redactor_of(self._dependencies.environment, agent)
        return redactor_without_agent(self._dependencies.environment, self._fleet.notified)

    def _keep_now(self, session: SessionRecord, redactor: Redactor, parse: Parse | None) -> None:
        """Copy a transcript, or only its facts if it is too large. Can block for seconds."""
        transcript = Path(session.transcript or "")
        if self._kept.is_current(session.id, transcript):
            return
        clean = _cleaner(transcript, parse, redactor)
        if not self._kept.keep(session.id, transcript, clean):
            facts = _facts_of(session, transcript, parse)
            self._kept.keep_facts(session.id, transcript, redactor.redact(facts).text)

    def _is_expired(self, job: JobId, open_jobs: set[JobId]) -> bool:
        """Return whether the last activity of a job is longer ago than the retention time.

        False for a job in `open_jobs`, and if the retention time is 0 (no limit).
        """
        if job in open_jobs:
            return False
        name = next((session.agent for session in self._dependencies.store.chain(job)), None)
        agent = self._fleet.find(name) if name else None
        days = agent.settings.handoff.retention_days if agent else self._default_days()
        return days > 0 and self._last_activity(job) < self._now() - days * DAY

    def _last_activity(self, job: JobId) -> float:
        store = self._dependencies.store
        times = [session.ended or session.created for session in store.chain(job)]
        times += [handoff.ended or handoff.created for handoff in store.handoffs(job)]
        return max(times, default=0.0)

    def _default_days(self) -> int:
        loaded = self._fleet.loaded
        return loaded.settings.defaults.handoff.retention_days if loaded else 0

    def _now(self) -> float:
        return self._dependencies.clock.steady()


def _cleaner(transcript: Path, parse: Parse | None, redactor: Redactor) -> Callable[[str], str]:
    """Return a function that redacts a line: removes known secrets, and secrets found in prompts.

    Reads the transcript's prompts when the first line is cleaned.
    """

    @cache
    def prompted() -> Redactor:
        given: set[str] = set()

        def feed(event: SessionEvent | Skipped) -> None:
            match event:
                case PromptFileTaken(text=text) | UserSaid(text=text, meta=False):
                    given.update(text[begin:end] for begin, end, _ in redactor.findings(text))

        if parse is not None:
            read_all(transcript, parse, feed)
        return Redactor(given)

    return lambda text: prompted().without_known(redactor.without_known(text))


def _facts_of(session: SessionRecord, transcript: Path, parse: Parse | None) -> str:
    """Return the facts of a transcript too large to copy, in the format of `cockpit facts`."""
    collector = Collector()
    if parse is not None:
        read_all(transcript, parse, collector.feed)
    usage = {"tokens": session.tokens, "cost_usd": session.cost_usd}
    return json.dumps(facts_report(collector.facts(), usage), indent=2)

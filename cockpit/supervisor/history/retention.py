"""How long papers are kept: while a job is open, and then for as long as the user said.

Only our own copies are archived and removed. What lies in a worktree is the user's, and the rows
of chains stay for ever: they are small, and nothing of a chain is rewritten. Every look does what
is due then, so that one which was missed costs nothing.
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
from cockpit.core.errors import CockpitError
from cockpit.core.ids import JobId
from cockpit.core.redaction import Redactor
from cockpit.core.session import PromptFileTaken, SessionEvent, Skipped, UserSaid
from cockpit.core.session_report import facts_report
from cockpit.ports.records import HandoffRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import redactor_of, redactor_without_agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.compaction import compaction_folder

LOOK = 3600.0
"""Seconds between two looks; the first is at the start. The CLI keeps records for 30 days."""
KEEP_SECONDS = 120.0
"""Seconds that copying one record may take before the next one is looked at."""
DAY = 86_400.0
RECENT = 40 * DAY
"""Sessions older than this have no record left that could be kept."""

_log = logging.getLogger(__name__)


class Retention:
    """Archives, keeps and removes for one supervisor."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._kept = KeptRecords(dependencies.places.state / "records")
        self._compactions = CompactionDocuments(compaction_folder(dependencies.places))

    async def run(self) -> None:
        """Look now and then, for ever; trouble with one paper is logged, and tried again."""
        while True:
            await self.look()
            await self._dependencies.clock.sleep(LOOK)

    async def look(self) -> None:
        """Do what is due. Twice is the same as once."""
        open_jobs = {agent.record.job for agent in self._fleet if agent.record.job}
        for handoff in self._dependencies.store.handoffs_with_copy():
            if handoff.job not in open_jobs and handoff.ended is not None:
                await self._quietly(self._put_away(handoff))
        for session in self._dependencies.store.sessions_over(self._now() - RECENT):
            if not self._is_expired(session.job, open_jobs):
                await self._quietly(self._keep(session))
        for ident in await asyncio.to_thread(self._kept.sessions):
            held = self._dependencies.store.session(ident)
            if held is None or self._is_expired(held.job, open_jobs):
                await self._quietly(asyncio.to_thread(self._kept.forget, ident))
        await self._quietly(self._clear_strays())
        oldest = self._now() - RECENT
        await self._quietly(asyncio.to_thread(self._compactions.forget, oldest))

    async def _quietly(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (OSError, CockpitError):
            _log.warning("a paper could not be put away", exc_info=True)

    async def _put_away(self, handoff: HandoffRecord) -> None:
        """Archive a finished job's copy, and remove it once its time is over."""
        documents, store = self._dependencies.documents, self._dependencies.store
        if self._is_expired(handoff.job, set()):
            await asyncio.to_thread(documents.copies.forget, handoff.id)
            store.save_handoff(replace(handoff, copy=None))
            SearchTable(store).clear(handoff.id)
            return
        place = await asyncio.to_thread(documents.copies.archive, handoff.id)
        if place is not None and str(place) != handoff.copy:
            store.save_handoff(replace(handoff, copy=str(place)))

    async def _clear_strays(self) -> None:
        """Copies that no handoff names: of documents that a new agent was started from."""
        named = {each.id for each in self._dependencies.store.handoffs_with_copy()}
        named |= {each.id for each in self._dependencies.store.open_handoffs()}
        days = self._default_days()
        if days > 0:
            oldest = self._now() - days * DAY
            await asyncio.to_thread(self._dependencies.documents.copies.clear_strays, named, oldest)

    async def _keep(self, session: SessionRecord) -> None:
        """Our own copy of the record of a session that is over, if it is not kept yet."""
        agent = self._fleet.find(session.agent)
        redactor = self._redactor(agent)
        parse = agent.runtime.parse if agent else None
        keep = partial(self._keep_now, session, redactor, parse)
        await self._dependencies.slow.ask(("record of", session.id), keep, KEEP_SECONDS)

    def _redactor(self, agent: Agent | None) -> Redactor:
        """Without its agent, an agent's own secrets are not known any more."""
        if agent is not None:
            return redactor_of(self._dependencies.environment, agent)
        return redactor_without_agent(self._dependencies.environment, self._fleet.notified)

    def _keep_now(self, session: SessionRecord, redactor: Redactor, parse: Parse | None) -> None:
        """Blocks on the disk, and for seconds on a large record."""
        transcript = Path(session.transcript or "")
        if self._kept.is_current(session.id, transcript):
            return
        clean = _cleaner(transcript, parse, redactor)
        if not self._kept.keep(session.id, transcript, clean):
            facts = _facts_of(session, transcript, parse)
            self._kept.keep_facts(session.id, transcript, redactor.redact(facts).text)

    def _is_expired(self, job: JobId, open_jobs: set[JobId]) -> bool:
        """Whether the last sign of a job is older than its agent's papers are kept."""
        if job in open_jobs:
            return False
        name = next((session.agent for session in self._dependencies.store.chain(job)), None)
        agent = self._fleet.find(name) if name else None
        days = agent.settings.handoff.retention_days if agent else self._default_days()
        return days > 0 and self._last_sign(job) < self._now() - days * DAY

    def _last_sign(self, job: JobId) -> float:
        signs = [each.ended or each.created for each in self._dependencies.store.chain(job)]
        signs += [each.ended or each.created for each in self._dependencies.store.handoffs(job)]
        return max(signs, default=0.0)

    def _default_days(self) -> int:
        loaded = self._fleet.loaded
        return loaded.settings.defaults.handoff.retention_days if loaded else 0

    def _now(self) -> float:
        return self._dependencies.clock.steady()


def _cleaner(transcript: Path, parse: Parse | None, redactor: Redactor) -> Callable[[str], str]:
    """Takes out of a record the values that are known, and those that its own prompts gave away.

    The record is read for its prompts when the first line is cleaned.
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
    """What a record that is too large to keep comes to, as `cockpit facts --json` has it."""
    collector = Collector()
    if parse is not None:
        read_all(transcript, parse, collector.feed)
    usage = {"tokens": session.tokens, "cost_usd": session.cost_usd}
    return json.dumps(facts_report(collector.facts(), usage), indent=2)

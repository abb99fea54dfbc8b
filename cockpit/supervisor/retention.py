"""How long papers are kept: while a job is open, and then for as long as the pilot said.

Only our own copies are archived and removed. What lies in a worktree is the pilot's, and the rows
of chains stay for ever: they are small, and nothing of a chain is rewritten. Every look does what
is due then, so that one which was missed costs nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.kept_records import KeptRecords
from cockpit.adapters.store.search import SearchTable
from cockpit.adapters.transcript_scan import read_all
from cockpit.adapters.transcripts import Parse
from cockpit.core.collect import Collector
from cockpit.core.errors import CockpitError
from cockpit.core.ids import JobId
from cockpit.core.redaction import Redactor
from cockpit.core.session_report import facts_report
from cockpit.ports.records import HandoffRecord, SessionRecord
from cockpit.supervisor.fleet import Fleet
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of, redactor_of_nobody

LOOK = 3600.0
"""Seconds between two looks; the first is at the start. The CLI keeps records for 30 days."""
DAY = 86_400.0
RECENT = 40 * DAY
"""Sessions older than this have no record left that could be kept."""

_log = logging.getLogger(__name__)


class Retention:
    """Archives, keeps and removes for one supervisor."""

    def __init__(self, instruments: Instruments, fleet: Fleet) -> None:
        self._in = instruments
        self._fleet = fleet
        self._kept = KeptRecords(instruments.places.state / "records")

    async def run(self) -> None:
        """Look now and then, for ever; trouble with one paper is logged, and tried again."""
        while True:
            await self.look()
            await self._in.clock.sleep(LOOK)

    async def look(self) -> None:
        """Do what is due. Twice is the same as once."""
        open_jobs = {seat.record.job for seat in self._fleet if seat.record.job}
        for handoff in self._in.store.handoffs_with_copy():
            if handoff.job not in open_jobs and handoff.ended is not None:
                await self._quietly(self._put_away(handoff))
        for session in self._in.store.sessions_over(self._now() - RECENT):
            if not self._is_expired(session.job, open_jobs):
                await self._quietly(self._keep(session))
        for ident in await asyncio.to_thread(self._kept.sessions):
            held = self._in.store.session(ident)
            if held is None or self._is_expired(held.job, open_jobs):
                await self._quietly(asyncio.to_thread(self._kept.forget, ident))
        await self._quietly(self._clear_strays())

    async def _quietly(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (OSError, CockpitError):
            _log.warning("a paper could not be put away", exc_info=True)

    async def _put_away(self, handoff: HandoffRecord) -> None:
        """Archive a finished job's copy, and remove it once its time is over."""
        documents, store = self._in.documents, self._in.store
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
        named = {each.id for each in self._in.store.handoffs_with_copy()}
        named |= {each.id for each in self._in.store.open_handoffs()}
        days = self._default_days()
        if days > 0:
            oldest = self._now() - days * DAY
            await asyncio.to_thread(self._in.documents.copies.clear_strays, named, oldest)

    async def _keep(self, session: SessionRecord) -> None:
        """Our own copy of the record of a session that is over, if it is not kept yet."""
        seat = self._fleet.find(session.agent)
        redactor = self._redactor(seat)
        parse = seat.runtime.parse if seat else None
        await asyncio.to_thread(self._keep_now, session, redactor, parse)

    def _redactor(self, seat: Seat | None) -> Redactor:
        """Without its seat, an agent's own secrets are not known any more."""
        if seat is not None:
            return redactor_of(self._in.environment, seat)
        return redactor_of_nobody(self._in.environment, self._fleet.notified)

    def _keep_now(self, session: SessionRecord, redactor: Redactor, parse: Parse | None) -> None:
        """Blocks on the disk, and for seconds on a large record."""
        transcript = Path(session.transcript or "")
        if self._kept.is_current(session.id, transcript):
            return
        if not self._kept.keep(session.id, transcript, redactor.without_known):
            facts = _facts_of(session, transcript, parse)
            self._kept.keep_facts(session.id, transcript, redactor.redact(facts).text)

    def _is_expired(self, job: JobId, open_jobs: set[JobId]) -> bool:
        """Whether the last sign of a job is older than its agent's papers are kept."""
        if job in open_jobs:
            return False
        agent = next((each.agent for each in self._in.store.chain(job)), None)
        seat = self._fleet.find(agent) if agent else None
        days = seat.settings.handoff.retention_days if seat else self._default_days()
        return days > 0 and self._last_sign(job) < self._now() - days * DAY

    def _last_sign(self, job: JobId) -> float:
        signs = [each.ended or each.created for each in self._in.store.chain(job)]
        signs += [each.ended or each.created for each in self._in.store.handoffs(job)]
        return max(signs, default=0.0)

    def _default_days(self) -> int:
        loaded = self._fleet.loaded
        return loaded.settings.defaults.handoff.retention_days if loaded else 0

    def _now(self) -> float:
        return self._in.clock.steady()


def _facts_of(session: SessionRecord, transcript: Path, parse: Parse | None) -> str:
    """What a record that is too large to keep comes to, as `cockpit facts --json` has it."""
    collector = Collector()
    if parse is not None:
        read_all(transcript, parse, collector.feed)
    usage = {"tokens": session.tokens, "cost_usd": session.cost_usd}
    return json.dumps(facts_report(collector.facts(), usage), indent=2)

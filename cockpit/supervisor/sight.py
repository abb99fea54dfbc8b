"""What a handoff sees of the world: a seat, its pane and its directory as one `Seen`.

Looks, and changes nothing but its own memory of how a draft looked last time. A question that
costs a process (git, a capture of the pane) is asked only in the states that need its answer.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from cockpit.adapters.documents import DraftSeen
from cockpit.core import document
from cockpit.core.bands import Band
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Draft, Seen, Turn
from cockpit.core.handoff.states import (
    Confirming,
    Documenting,
    Handoff,
    Settling,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat

READY_STATES = (Waiting, Settling)
OUR_SKILLS = ("/cockpit:", "/handoff")
"""How a prompt begins that asks for the handoff itself."""


class Sight:
    """The eyes of one engine."""

    def __init__(self, instruments: Instruments) -> None:
        self._in = instruments
        self._drafts: dict[str, DraftSeen] = {}

    async def see(self, seat: Seat, handoff: Handoff, queue: str | None) -> Seen:
        """The world as it is for this handoff, now."""
        now = self._in.clock.monotonic()
        if isinstance(handoff.state, Stopping | Starting | Confirming):
            return self._successor(seat, now)
        conduct = seat.sitting.conduct
        ready = isinstance(handoff.state, READY_STATES)
        draft: Draft = Draft.ABSENT
        problems: tuple[str, ...] = ()
        if isinstance(handoff.state, Documenting) and not handoff.state.composing:
            draft, problems = await asyncio.to_thread(self._draft, seat)
        return Seen(
            now=now,
            turn=conduct.turn if seat.alive else Turn.UNKNOWN,
            composer_clean=await self._composer(seat) if ready else None,
            tool_running=bool(seat.sitting.running),
            subagents=tuple(conduct.subagents.values()),
            git_busy=await self._git_busy(seat) if ready else None,
            forced=seat.band is Band.FORCE,
            tokens=seat.sitting.gauge.tokens,
            compactions=seat.sitting.meter.compactions,
            queue=queue,
            delivered=self._delivered(seat),
            pilot_spoke=pilot_spoke(seat),
            moved=moved(seat),
            predecessor_alive=seat.alive,
            draft=draft,
            problems=problems,
        )

    def _successor(self, seat: Seat, now: float) -> Seen:
        sitting = seat.sitting
        return Seen(
            now=now,
            successor_alive=seat.alive,
            successor_replied=sitting.replied,
            successor_dialog=sitting.conduct.turn is Turn.DIALOG or bool(seat.trust_asked),
        )

    async def _composer(self, seat: Seat) -> bool | None:
        if not seat.alive or seat.record.pane is None:
            return None
        if seat.sitting.conduct.turn is not Turn.IDLE:
            return None
        try:
            screen = await self._in.panes.capture(seat.record.pane)
        except CockpitError:
            return None
        clean = seat.runtime.composer(screen)
        # A paste of ours that was never submitted is nobody's half-typed text.
        return True if clean is False and typing(seat) else clean

    async def _git_busy(self, seat: Seat) -> str | None:
        return await self._in.worktrees.busy(seat.directory)

    def _delivered(self, seat: Seat) -> bool:
        token = draft_token(seat)
        return bool(token) and seat.heard_of(token)

    def _draft(self, seat: Seat) -> tuple[Draft, tuple[str, ...]]:
        """How the draft stands. It is stable once two looks find the same file."""
        path = draft_path(seat)
        if path is None or seat.handoff_record is None:
            return Draft.ABSENT, ()
        key = seat.handoff_record.id
        try:
            seen = self._in.documents.look_at_draft(path)
        except CockpitError as refused:
            return Draft.INVALID, (str(refused),)
        before, self._drafts[key] = self._drafts.get(key), seen
        if seen.signature is None:
            return Draft.ABSENT, ()
        if before is None or before.signature != seen.signature:
            return Draft.UNSTABLE, ()
        problems = tuple(each.text for each in document.validate(seen.text or "") if not each.mends)
        return (Draft.INVALID, problems) if problems else (Draft.VALID, ())

    def forget(self, handoff: str) -> None:
        self._drafts.pop(handoff, None)


def draft_path(seat: Seat) -> Path | None:
    """Where the agent was asked to write; None before a handoff has a place for it."""
    if seat.handoff_record is None:
        return None
    path = seat.handoff_record.details.get("draft")
    return Path(path) if path else None


def draft_token(seat: Seat) -> str:
    """What no other text would hold: the draft's file name, with the handoff's id in it."""
    path = draft_path(seat)
    return path.name if path else ""


def typing(seat: Seat) -> bool:
    """Whether we were between a paste and its Enter when we were last interrupted."""
    return seat.handoff_record is not None and bool(seat.handoff_record.details.get("typing"))


def pilot_spoke(seat: Seat) -> bool:
    """Whether a person gave the agent a prompt after the handoff began; our own do not count."""
    record = seat.handoff_record
    if record is None:
        return False
    token = draft_token(seat)
    since = began(record)
    said = (text for at, text in seat.sitting.pilot_prompts if at > since)
    return any(token not in text and not text.lstrip().startswith(OUR_SKILLS) for text in said)


def began(record: HandoffRecord) -> float:
    """When the handoff began, in steady seconds."""
    return float(record.details.get("began", record.created))


def moved(seat: Seat) -> bool:
    """Whether the agent did anything after the document was sealed."""
    record = seat.handoff_record
    sealed = record.details.get("sealed_calls") if record else None
    return sealed is not None and seat.sitting.meter.api_calls > int(sealed)

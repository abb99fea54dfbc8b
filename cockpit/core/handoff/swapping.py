"""The rules from a sealed document to a new session: `Reviewing` and the states after it.

The old session is ended only when its turn is over or was interrupted, the composer (the CLI's
prompt input) is empty, and no subagent or git operation is running. With `--now`, the handoff only
waits for the end of the turn, and at most `HURRY` seconds.
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.handoff.commands import AskToEnd, Interrupt, Withdraw
from cockpit.core.handoff.events import (
    Approved,
    CalledOff,
    Declined,
    DocumentFailed,
    DocumentSealed,
    Event,
    Hurried,
    Moved,
    Observation,
    PredecessorGone,
    PredecessorSurvived,
    Snoozed,
    Started,
    StartFailed,
    Turn,
)
from cockpit.core.handoff.states import (
    Confirming,
    Document,
    Ended,
    Handoff,
    Moving,
    Outcome,
    Plan,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    Stopping,
)
from cockpit.core.handoff.steps import HURRY, Step, call_off, end, enter, not_now, same, wait, wakes


def reviewing(handoff: Handoff, state: Reviewing, event: Event) -> Step:
    """Handle an event while the user reviews the document; the agent may continue."""
    match event:
        case Approved(now=now):
            return enter(handoff, Settling(state.document, since=now))
        case Hurried():
            return replace(handoff, plan=replace(handoff.plan, now=True)), ()
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}")
        case Snoozed(until=until, tokens=tokens):
            return replace(handoff, state=Reviewing(state.document, until, tokens)), ()
        case CalledOff():
            return call_off(handoff, event)
        case DocumentSealed(document=document):
            return replace(handoff, state=replace(state, document=document)), ()
        case Observation() if wakes(state, event):
            return replace(handoff, state=Reviewing(state.document)), ()
        case _:
            return same(handoff)


QUIET = 2.0
"""Seconds without work before a move begins. A CLI may write the last reply of a turn to its
transcript after it reports the end of the turn; during the move, that reply would count as new work
and cancel the move."""


def settling(handoff: Handoff, state: Settling, event: Event) -> Step:
    """Handle an event while the handoff waits for the end of the agent's turn."""
    match event:
        case DocumentSealed(document=document) if state.refreshing:
            return _settled(handoff, document)
        case Hurried():
            return replace(handoff, plan=replace(handoff.plan, now=True)), ()
        case DocumentFailed() if state.refreshing:
            # The sealed document is still valid; only its facts are older.
            return _settled(handoff, state.document)
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}", Withdraw())
        case CalledOff():
            return call_off(handoff, event, Withdraw())
        case Observation() if not state.refreshing:
            return _observe_settling(handoff, state, event)
        case _:
            return same(handoff)


def _observe_settling(handoff: Handoff, state: Settling, seen: Observation) -> Step:
    if not seen.predecessor_alive:
        return _settled(handoff, state.document)
    state = _with_force(state, seen)
    handoff = replace(handoff, state=state)
    why = _unsettled(handoff.plan, state, seen)
    if why:
        return _interrupt_or_wait(handoff, replace(state, quiet_since=None), seen, why)
    if handoff.plan.move_to:
        since = seen.now if state.quiet_since is None else state.quiet_since
        if 0.0 <= seen.now - since < QUIET:
            return replace(handoff, state=replace(state, quiet_since=since)), ()
    if seen.moved:
        return enter(handoff, replace(state, refreshing=True))
    return _settled(handoff, state.document)


def _settled(handoff: Handoff, document: Document) -> Step:
    """Enter `Moving` for a job that moves to another machine, else `Stopping`."""
    if handoff.plan.move_to:
        return enter(handoff, Moving(document))
    return enter(handoff, Stopping(document))


def _with_force(state: Settling, seen: Observation) -> Settling:
    """Return the state, with `forced_at` set if the handoff is forced or the CLI compacted."""
    before = seen.compactions if state.compactions is None else state.compactions
    forced_at = state.forced_at
    if forced_at is None and (seen.forced or seen.compactions > before):
        forced_at = seen.now
    return replace(state, compactions=before, forced_at=forced_at)


def _unsettled(plan: Plan, state: Settling, seen: Observation) -> str | None:
    """Return why the old process cannot be ended yet; None if the process can be ended.

    With `--now`, the only reason is that the interrupted turn has not ended, for at most `HURRY`
    seconds.
    """
    hurried = state.interrupted_at is not None and seen.now - state.interrupted_at > HURRY
    if plan.now:
        still = seen.turn is Turn.WORKING and not hurried
        return "waiting for the interrupted turn to end" if still else None
    # If the CLI ignored the interrupt, do not wait indefinitely.
    ignored = hurried and seen.turn is Turn.WORKING and not seen.tool_running and not seen.subagents
    return not_now(seen, boundary=not ignored)


def _interrupt_or_wait(handoff: Handoff, state: Settling, seen: Observation, why: str) -> Step:
    """Ask the agent to end its turn; with `--now` or if `_may_interrupt`, interrupt the turn."""
    if seen.turn is not Turn.WORKING or state.interrupted_at is not None:
        return wait(handoff, state, why)
    if handoff.plan.now or _may_interrupt(handoff.plan, state, seen):
        cut = replace(state, interrupted_at=seen.now, why=why)
        return replace(handoff, state=cut), (Interrupt(),)
    if not state.asked_to_end:
        asked = replace(state, asked_to_end=True, why=why)
        return replace(handoff, state=asked), (AskToEnd(),)
    return wait(handoff, state, why)


def _may_interrupt(plan: Plan, state: Settling, seen: Observation) -> bool:
    """Return whether the turn may be interrupted.

    True only after the handoff was forced or the context was compacted: at once if no tool,
    subagent or git operation is running, else when the grace period is over.
    """
    if state.forced_at is None:
        return False
    would_break = seen.tool_running or bool(seen.subagents) or seen.git_busy is not None
    return not would_break or seen.now - state.forced_at > plan.grace


def moving(handoff: Handoff, state: Moving, event: Event) -> Step:
    """Handle an event while the job is moved to another machine.

    If the session continues to work, the move is cancelled, because the new work is neither in the
    document nor in the transferred files.
    """
    match event:
        case Moved():
            return enter(handoff, Stopping(state.document))
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}")
        case CalledOff():
            return call_off(handoff, event)
        case Observation(moved=True):
            return end(handoff, Outcome.CANCELLED, "the agent worked while its job was being moved")
        case _:
            return same(handoff)


def stopping(handoff: Handoff, state: Stopping, event: Event) -> Step:
    """Handle an event while the old process is ended; then start the successor, unless the job
    continues on another machine."""
    match event:
        case PredecessorGone() if handoff.plan.move_to:
            return end(handoff, Outcome.MOVED, f"moved to {handoff.plan.move_to}")
        case PredecessorSurvived(why=why) if handoff.plan.move_to:
            moved = f"the job continues on {handoff.plan.move_to}, but its session here did not end"
            return end(handoff, Outcome.FAILED, f"{moved}: {why}")
        case PredecessorGone():
            return enter(handoff, Starting(state.document))
        case PredecessorSurvived(why=why):
            return end(handoff, Outcome.FAILED, why)
        case _:
            return same(handoff)


def starting(handoff: Handoff, state: Starting, event: Event) -> Step:
    """Handle an event while the successor starts; after a failure, make the next attempt.

    Without attempts left, reopen the old session.
    """
    match event:
        case Started(now=now):
            until = now + handoff.plan.confirm_within
            return enter(handoff, Confirming(state.document, state.attempt, until))
        case StartFailed(why=why):
            return _another_start(handoff, state.document, state.attempt, why)
        case _:
            return same(handoff)


def _another_start(handoff: Handoff, document: Document, attempt: int, why: str) -> Step:
    if attempt < len(handoff.plan.successors):
        return enter(handoff, Starting(document, attempt + 1))
    return enter(handoff, Reviving(document, why))


def confirming(handoff: Handoff, state: Confirming, event: Event) -> Step:
    """Handle an event before the successor's first reply.

    If the successor ends or times out before that reply, make the next attempt. Without attempts
    left, or after a cancellation, reopen the old session.
    """
    match event:
        case Observation(successor_replied=True):
            done = Ended(Outcome.DONE, document=state.document, attempt=state.attempt)
            return replace(handoff, state=done), ()
        case Observation(successor_alive=False):
            why = "the new session ended before its first reply"
            return _another_start(handoff, state.document, state.attempt, why)
        case Observation(now=now, successor_dialog=True):
            until = now + handoff.plan.confirm_within
            return replace(handoff, state=replace(state, until=until)), ()
        case Observation(now=now) if now > state.until:
            why = "the new session did not reply in time"
            return _another_start(handoff, state.document, state.attempt, why)
        case StartFailed(why=why):
            return _another_start(handoff, state.document, state.attempt, why)
        case Declined(by=by):
            return enter(handoff, Reviving(state.document, f"{by} cancelled the new session"))
        case CalledOff(why=why):
            return enter(handoff, Reviving(state.document, why))
        case _:
            return same(handoff)


def reviving(handoff: Handoff, state: Reviving, event: Event) -> Step:
    """Handle an event while the old session is reopened; if that fails, the handoff fails."""
    match event:
        case Started():
            return end(handoff, Outcome.REVIVED, state.why)
        case StartFailed(why=why):
            return end(handoff, Outcome.FAILED, f"{state.why}; then: {why}")
        case _:
            return same(handoff)

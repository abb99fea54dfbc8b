"""The rules from the question to a sealed document: `Asked`, `Waiting` and `Documenting`.

The request does not wait for the end of a turn, because an autonomous turn can last for hours. If
the user sends a prompt before the request has arrived, the handoff is cancelled. If the user sends
a prompt while the agent writes the document, the user reviews the document.
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.handoff.commands import AskAgain, Interrupt, Request, Withdraw
from cockpit.core.handoff.events import (
    Approved,
    CalledOff,
    Declined,
    DocumentFailed,
    DocumentSealed,
    Draft,
    Event,
    Hurried,
    Observation,
    Retargeted,
    Snoozed,
    Turn,
)
from cockpit.core.handoff.states import (
    Asked,
    Documenting,
    Handoff,
    Outcome,
    Reviewing,
    Settling,
    Waiting,
)
from cockpit.core.handoff.steps import (
    HURRY,
    Step,
    call_off,
    end,
    enter,
    next_writer,
    not_now,
    queue,
    same,
    wait,
    wakes,
    write,
)
from cockpit.core.plurals import counted

DELIVERY_PATIENCE = 15.0
"""Seconds that an idle agent may ignore a pasted request before the request is pasted again."""
BOUNDARY_PATIENCE = 3.0
"""A request that waits for the agent's next tool call is pasted instead after the agent has been
idle for this many seconds."""
DELIVERY_TRIES = 3
"""Number of requests before the next writer is tried."""
ENDED = "the agent's process has ended"
SILENCE = 10.0
"""Seconds after the previous request until an idle agent without a valid draft is asked again."""


def asked(handoff: Handoff, state: Asked, event: Event) -> Step:
    """Handle an event while the user is asked; the agent is not asked for anything yet."""
    match event:
        case Approved(now=now, straight=straight):
            plan = replace(handoff.plan, review=handoff.plan.review and not straight)
            return enter(replace(handoff, plan=plan), Waiting(since=now))
        case Retargeted(runtime=runtime, model=model):
            plan = replace(handoff.plan, runtime=runtime, model=model)
            return replace(handoff, plan=plan), ()
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}")
        case Snoozed(until=until, tokens=tokens):
            return replace(handoff, state=Asked(until, tokens)), ()
        case CalledOff():
            return call_off(handoff, event)
        case Observation(predecessor_alive=False):
            return end(handoff, Outcome.CANCELLED, "the agent ended on its own")
        case Observation() if wakes(state, event):
            return enter(handoff, Asked())
        case _:
            return same(handoff)


def waiting(handoff: Handoff, state: Waiting, event: Event) -> Step:
    """Handle an event while the agent cannot be asked yet, or has not received the request."""
    match event:
        case Hurried():
            # Withdraw a pending request; it is repeated after the turn is interrupted.
            hurried = replace(handoff, plan=replace(handoff.plan, now=True))
            if handoff.plan.now or state.requested_at is None:
                return hurried, ()
            again = replace(state, requested_at=None, why="")
            return replace(hurried, state=again), (Withdraw(),)
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}", Withdraw())
        case CalledOff():
            return call_off(handoff, event, Withdraw())
        case Observation():
            return _observe_waiting(handoff, state, event)
        case _:
            return same(handoff)


def _observe_waiting(handoff: Handoff, state: Waiting, seen: Observation) -> Step:
    plan = handoff.plan
    if seen.delivered and state.tries:
        until = seen.now + plan.deadline
        return enter(handoff, Documenting("agent", since=seen.now, until=until))
    if seen.user_prompted:
        why = "you gave the agent a new prompt"
        return end(handoff, Outcome.CANCELLED, why, Withdraw())
    if seen.queue:
        return queue(handoff, state, seen.queue)
    if plan.given:
        return write(handoff, "agent", seen.now)
    if not seen.predecessor_alive:
        return next_writer(handoff, "agent", ENDED, seen.now, Withdraw())
    if plan.writers and plan.writers[0] != "agent":
        return write(handoff, plan.writers[0], seen.now)
    if state.requested_at is None:
        return _try_request(handoff, state, seen)
    return _await_delivery(handoff, state, seen)


def _try_request(handoff: Handoff, state: Waiting, seen: Observation) -> Step:
    plan = handoff.plan
    if state.tries >= DELIVERY_TRIES:
        reason = f"the request did not reach the agent in {DELIVERY_TRIES} attempts"
        return next_writer(handoff, "agent", reason, seen.now)
    hurried = state.interrupted_at is not None and seen.now - state.interrupted_at > HURRY
    why = not_now(seen, boundary=False)
    # An idle agent that missed the first request is not given up here, but asked again.
    if plan.now and hurried and (why or seen.turn is Turn.WORKING):
        reason = "the agent could not be asked after the interrupt"
        return next_writer(handoff, "agent", reason, seen.now)
    if plan.now and seen.turn is Turn.WORKING and state.interrupted_at is None:
        return replace(handoff, state=replace(state, interrupted_at=seen.now)), (Interrupt(),)
    if plan.now and state.interrupted_at is not None and seen.turn is Turn.WORKING:
        return wait(handoff, state, "waiting for the interrupted turn to end")
    if why:
        return wait(handoff, state, why)
    asked = replace(
        state,
        requested_at=seen.now,
        laid=seen.turn is Turn.WORKING,
        idle_since=seen.now if seen.turn is Turn.IDLE else None,
        tries=state.tries + 1,
        why=_pending_reason(seen),
    )
    return replace(handoff, state=asked), (Request(),)


def _pending_reason(seen: Observation) -> str:
    if seen.turn is Turn.WORKING:
        return "the agent gets the request after its next tool call"
    return "the request was pasted into the composer"


def _await_delivery(handoff: Handoff, state: Waiting, seen: Observation) -> Step:
    """Wait until a pending request arrives; repeat the request if an idle agent ignores it."""
    assert state.requested_at is not None
    waited = seen.now - state.requested_at
    if seen.turn is Turn.IDLE:
        return _await_idle(handoff, state, seen)
    state = replace(state, idle_since=None)
    overdue = seen.forced and waited > handoff.plan.grace and state.interrupted_at is None
    if overdue and seen.turn is Turn.WORKING:
        cut = replace(
            state, interrupted_at=seen.now, why="interrupted: the request waited too long"
        )
        return replace(handoff, state=cut), (Interrupt(),)
    return replace(handoff, state=state), ()


def _await_idle(handoff: Handoff, state: Waiting, seen: Observation) -> Step:
    since = seen.now if state.idle_since is None else state.idle_since
    if seen.now - since <= (BOUNDARY_PATIENCE if state.laid else DELIVERY_PATIENCE):
        return replace(handoff, state=replace(state, idle_since=since)), ()
    again = replace(state, requested_at=None, why="the request did not arrive; asking again")
    return replace(handoff, state=again), (Withdraw(),)


def documenting(handoff: Handoff, state: Documenting, event: Event) -> Step:
    """Handle an event while a writer writes; if the writer fails, try the next writer."""
    match event:
        case DocumentSealed(now=now, document=document):
            if handoff.plan.review:
                return enter(handoff, Reviewing(document))
            return enter(handoff, Settling(document, since=now))
        case Hurried():
            return replace(handoff, plan=replace(handoff.plan, now=True)), ()
        case DocumentFailed(now=now, why=why):
            if state.writer == "facts":
                return end(handoff, Outcome.CANCELLED, f"no document could be written: {why}")
            return next_writer(handoff, state.writer, why, now)
        case Declined(by=by):
            return end(handoff, Outcome.REFUSED, f"refused by {by}", Withdraw())
        case CalledOff():
            return call_off(handoff, event, Withdraw())
        case Observation() if not state.composing:
            return _observe_writing(handoff, state, event)
        case _:
            return same(handoff)


def _observe_writing(handoff: Handoff, state: Documenting, seen: Observation) -> Step:
    """Use the agent's draft if it is valid; if it is missing or invalid, ask the agent again."""
    if seen.user_prompted and not handoff.plan.review:
        # The user is at the keyboard, so the user reviews the document.
        handoff = replace(handoff, plan=replace(handoff.plan, review=True))
    if seen.draft is Draft.VALID:
        return enter(handoff, replace(state, composing=True))
    if not seen.predecessor_alive:
        return next_writer(handoff, "agent", ENDED, seen.now, Withdraw())
    if seen.now > state.until:
        why = f"no valid document within {handoff.plan.deadline:g} s{_first_problem(seen)}"
        if seen.turn is Turn.DIALOG:
            # Only the user can answer the question that kept the agent from writing, so the user
            # reviews the document.
            handoff = replace(handoff, plan=replace(handoff.plan, review=True))
            why += "; a question for you is open in the pane"
        return next_writer(handoff, "agent", why, seen.now, Withdraw())
    silent = seen.turn is Turn.IDLE and seen.now - state.since > SILENCE
    if not silent or seen.draft is Draft.UNSTABLE:
        return replace(handoff, state=state), ()
    if state.asked_again >= handoff.plan.re_asks:
        times = counted(state.asked_again + 1, "request")
        why = f"no valid document after {times}{_first_problem(seen)}"
        return next_writer(handoff, "agent", why, seen.now)
    again = replace(state, since=seen.now, asked_again=state.asked_again + 1)
    problems = seen.problems or ("the document does not exist yet",)
    return replace(handoff, state=again), (AskAgain(problems),)


def _first_problem(seen: Observation) -> str:
    return f" ({seen.problems[0].rstrip('.')})" if seen.problems else ""

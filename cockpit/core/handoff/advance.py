"""The rule book: `advance(handoff, event)` gives the next handoff and what is to be done.

Total and pure. Each invariant is a test:

- no path reaches `Stopping` without a sealed document;
- before `Stopping` nothing is ended, and from there on it only goes forward, or revives;
- a successor is started only after the one before it was seen gone;
- an event that means nothing in a state changes nothing.

`entry` says what a state asks for when it is entered. A supervisor that comes back gives it
again: commands are idempotent, so nothing else has to be replayed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cockpit.core.handoff.commands import (
    AskAgain,
    Command,
    Compose,
    EndPredecessor,
    Interrupt,
    Prepare,
    Refresh,
    Request,
    RevivePredecessor,
    StartSuccessor,
    Withdraw,
)
from cockpit.core.handoff.events import (
    Approved,
    CalledOff,
    Declined,
    DocumentFailed,
    DocumentSealed,
    Draft,
    Event,
    PredecessorGone,
    PredecessorSurvived,
    Seen,
    Snoozed,
    Started,
    StartFailed,
    Turn,
)
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Document,
    Documenting,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    State,
    Stopping,
    Waiting,
)

Step = tuple[Handoff, tuple[Command, ...]]

DELIVERY_PATIENCE = 15.0
"""Seconds an idle agent may leave a request unanswered before it is given another way."""
DELIVERY_TRIES = 3
"""Ways and times a request is given before the next writer takes over."""
SILENCE = 10.0
"""Seconds an idle agent may be silent after the request before it is asked again."""
HURRY = 10.0
"""Seconds that `--now` waits after its one interrupt."""


def begin(plan: Plan, now: float) -> Step:
    """A new handoff: with the question first, or straight to the request."""
    state: State = Asked() if plan.ask else Waiting(since=now)
    return _enter(Handoff(plan, state), state, now)


def entry(handoff: Handoff) -> tuple[Command, ...]:
    """What the state asks for on being entered; recovery gives it again."""
    match handoff.state:
        case Asked():
            return (Prepare(),)
        case Documenting(writer=writer, composing=True):
            return (Compose(writer),)
        case Settling(document=document, refreshing=True):
            return (Refresh(document),)
        case Stopping():
            return (EndPredecessor(),)
        case Starting(attempt=attempt):
            return (StartSuccessor(attempt),)
        case Reviving():
            return (RevivePredecessor(),)
        case _:
            return ()


def rebased(handoff: Handoff, now: float) -> Handoff:
    """The same handoff on a machine that was started anew: its times begin again at `now`."""
    state = handoff.state
    match state:
        case Waiting():
            state = Waiting(since=now, why=state.why)
        case Documenting():
            state = replace(state, since=now, until=now + handoff.plan.deadline)
        case Settling():
            state = replace(state, since=now, interrupted_at=None)
        case Confirming():
            state = replace(state, until=now + handoff.plan.confirm_within)
        case Asked() | Reviewing():
            state = replace(state, snoozed_until=None)
        case _:
            pass
    return replace(handoff, state=state)


def taken_up(handoff: Handoff) -> Handoff:
    """The same handoff after an interruption of ours, before `entry` is given again.

    Whether a request got as far as the agent is not known then: it is given again, unless the
    record shows that it arrived.
    """
    if isinstance(handoff.state, Waiting):
        return replace(handoff, state=replace(handoff.state, requested_at=None))
    return handoff


def advance(handoff: Handoff, event: Event) -> Step:
    """The next step. What means nothing here gives the same handoff and no command."""
    state = handoff.state
    match state:
        case Ended():
            return handoff, ()
        case Asked():
            return _asked(handoff, state, event)
        case Waiting():
            return _waiting(handoff, state, event)
        case Documenting():
            return _documenting(handoff, state, event)
        case Reviewing():
            return _reviewing(handoff, state, event)
        case Settling():
            return _settling(handoff, state, event)
        case Stopping():
            return _stopping(handoff, state, event)
        case Starting():
            return _starting(handoff, state, event)
        case Confirming():
            return _confirming(handoff, state, event)
        case Reviving():
            return _reviving(handoff, state, event)
        case _:
            assert_never(state)


def _same(handoff: Handoff) -> Step:
    return handoff, ()


def _enter(handoff: Handoff, state: State, now: float | None = None) -> Step:
    """Go to a state and ask for what it needs; a given document is composed without a wait."""
    moved = replace(handoff, state=state)
    if isinstance(state, Waiting) and now is not None and handoff.plan.given:
        return _write(moved, "agent", now)
    return moved, entry(moved)


def _end(handoff: Handoff, outcome: Outcome, why: str = "", *extra: Command) -> Step:
    ended = Ended(outcome, why, handoff.document)
    return replace(handoff, state=ended), extra


def _write(handoff: Handoff, writer: str, now: float) -> Step:
    """Give the pen to a writer that needs nothing of the agent, or to a given document."""
    state = Documenting(
        writer=writer,  # type: ignore[arg-type]
        since=now,
        until=now + handoff.plan.deadline,
        composing=True,
    )
    return _enter(handoff, state)


def _next_writer(handoff: Handoff, after: str, now: float, *extra: Command) -> Step:
    """The writer that follows in the plan; the facts writer stands at the end of every plan."""
    writers = handoff.plan.writers
    place = writers.index(after) + 1 if after in writers else 0
    following = writers[place] if place < len(writers) else "facts"
    moved, commands = _write(handoff, following, now)
    return moved, (*extra, *commands)


def _asked(handoff: Handoff, state: Asked, event: Event) -> Step:
    match event:
        case Approved(now=now, straight=straight):
            plan = replace(handoff.plan, review=handoff.plan.review and not straight)
            return _enter(replace(handoff, plan=plan), Waiting(since=now), now)
        case Declined():
            return _end(handoff, Outcome.REFUSED, "the pilot said no")
        case Snoozed(until=until, tokens=tokens):
            return replace(handoff, state=Asked(until, tokens)), ()
        case CalledOff(why=why):
            return _end(handoff, Outcome.CANCELLED, why)
        case Seen(predecessor_alive=False):
            return _end(handoff, Outcome.CANCELLED, "the agent ended by itself")
        case Seen() if _wakes(state, event):
            return _enter(handoff, Asked())
        case _:
            return _same(handoff)


def _wakes(state: Asked | Reviewing, seen: Seen) -> bool:
    """Whether a question that was put off is to be put again."""
    until, tokens = state.snoozed_until, state.snoozed_tokens
    grown = seen.tokens is not None and tokens is not None and seen.tokens >= tokens
    return (
        grown or (tokens is not None and seen.forced) or (until is not None and seen.now >= until)
    )


def _waiting(handoff: Handoff, state: Waiting, event: Event) -> Step:
    match event:
        case Declined():
            return _end(handoff, Outcome.REFUSED, "the pilot said no", Withdraw())
        case CalledOff(why=why):
            return _end(handoff, Outcome.CANCELLED, why, Withdraw())
        case Seen():
            return _seen_waiting(handoff, state, event)
        case _:
            return _same(handoff)


def _seen_waiting(handoff: Handoff, state: Waiting, seen: Seen) -> Step:
    plan = handoff.plan
    if seen.delivered and state.tries:
        until = seen.now + plan.deadline
        return _enter(handoff, Documenting("agent", since=seen.now, until=until))
    if seen.pilot_spoke:
        why = "the agent was given a new prompt"
        return _end(handoff, Outcome.CANCELLED, why, Withdraw())
    if seen.queue:
        return _wait(handoff, state, seen.queue)
    if not seen.predecessor_alive:
        return _next_writer(handoff, "agent", seen.now, Withdraw())
    if plan.writers and plan.writers[0] != "agent":
        return _write(handoff, plan.writers[0], seen.now)
    if state.requested_at is None:
        return _try_request(handoff, state, seen)
    return _await_delivery(handoff, state, seen)


def _try_request(handoff: Handoff, state: Waiting, seen: Seen) -> Step:
    """Ask, if this is a moment at which the agent can be asked."""
    plan = handoff.plan
    if state.tries >= DELIVERY_TRIES:
        return _next_writer(handoff, "agent", seen.now)
    hurried = state.interrupted_at is not None and seen.now - state.interrupted_at > HURRY
    if plan.now and hurried:
        return _next_writer(handoff, "agent", seen.now)
    if plan.now and seen.turn is Turn.WORKING and state.interrupted_at is None:
        return replace(handoff, state=replace(state, interrupted_at=seen.now)), (Interrupt(),)
    if plan.now and state.interrupted_at is not None and seen.turn is Turn.WORKING:
        return _wait(handoff, state, "for the interrupted turn to end")
    why = not_now(seen, boundary=False)
    if why:
        return _wait(handoff, state, why)
    asked = replace(state, requested_at=seen.now, tries=state.tries + 1)
    asked = replace(asked, why=_pending_words(seen))
    return replace(handoff, state=asked), (Request(),)


def _pending_words(seen: Seen) -> str:
    if seen.turn is Turn.WORKING:
        return "the request goes in at the agent's next tool boundary"
    return "the request was pasted into the composer"


def _await_delivery(handoff: Handoff, state: Waiting, seen: Seen) -> Step:
    """The request is out. An idle agent that does not take it is asked another way."""
    assert state.requested_at is not None
    waited = seen.now - state.requested_at
    if seen.turn is Turn.IDLE and waited > DELIVERY_PATIENCE:
        again = replace(state, requested_at=None, why="the request did not arrive; once more")
        return replace(handoff, state=again), (Withdraw(),)
    overdue = seen.forced and waited > handoff.plan.grace and state.interrupted_at is None
    if overdue and seen.turn is Turn.WORKING:
        cut = replace(state, interrupted_at=seen.now, why="interrupted: the context is nearly full")
        return replace(handoff, state=cut), (Interrupt(),)
    return _same(handoff)


def _wait(handoff: Handoff, state: Waiting | Settling, why: str) -> Step:
    if state.why == why:
        return _same(handoff)
    return replace(handoff, state=replace(state, why=why)), ()


def not_now(seen: Seen, *, boundary: bool) -> str | None:
    """Why the agent cannot be asked (or, at a `boundary`, ended) at this moment; None if it can."""
    if seen.git_busy:
        return f"a git operation is in progress: {seen.git_busy}"
    if seen.turn is Turn.DIALOG:
        return "a question to you is open in the pane"
    if boundary and seen.subagents:
        return "subagents are at work: " + ", ".join(seen.subagents)
    if boundary and seen.turn is Turn.WORKING:
        return "the agent finishes its turn"
    if seen.turn is Turn.IDLE and seen.composer_clean is False:
        return "something is typed in the composer"
    if seen.turn is Turn.UNKNOWN:
        return "it cannot be told what the agent is doing"
    return None


def _documenting(handoff: Handoff, state: Documenting, event: Event) -> Step:
    match event:
        case DocumentSealed(now=now, document=document):
            if handoff.plan.review:
                return _enter(handoff, Reviewing(document))
            return _enter(handoff, Settling(document, since=now))
        case DocumentFailed(now=now, why=why):
            if state.writer == "facts":
                return _end(handoff, Outcome.CANCELLED, f"no document could be written: {why}")
            return _next_writer(handoff, state.writer, now)
        case Declined():
            return _end(handoff, Outcome.REFUSED, "the pilot said no", Withdraw())
        case CalledOff(why=why):
            return _end(handoff, Outcome.CANCELLED, why, Withdraw())
        case Seen() if not state.composing:
            return _seen_writing(handoff, state, event)
        case _:
            return _same(handoff)


def _seen_writing(handoff: Handoff, state: Documenting, seen: Seen) -> Step:
    """The agent writes. A valid draft is taken; a missing or bad one is asked for again."""
    if seen.pilot_spoke and not handoff.plan.review:
        # A person is at the keyboard: whatever comes of it is theirs to approve.
        handoff = replace(handoff, plan=replace(handoff.plan, review=True))
    if seen.draft is Draft.VALID:
        return _enter(handoff, replace(state, composing=True))
    if not seen.predecessor_alive or seen.now > state.until:
        return _next_writer(handoff, "agent", seen.now, Withdraw())
    silent = seen.turn is Turn.IDLE and seen.now - state.since > SILENCE
    if not silent or seen.draft is Draft.UNSTABLE:
        return replace(handoff, state=state), ()
    if state.asked_again >= handoff.plan.re_asks:
        return _next_writer(handoff, "agent", seen.now)
    again = replace(state, since=seen.now, asked_again=state.asked_again + 1)
    problems = seen.problems or ("no document is there yet",)
    return replace(handoff, state=again), (AskAgain(problems),)


def _reviewing(handoff: Handoff, state: Reviewing, event: Event) -> Step:
    match event:
        case Approved(now=now):
            return _enter(handoff, Settling(state.document, since=now))
        case Declined():
            return _end(handoff, Outcome.REFUSED, "the pilot said no")
        case Snoozed(until=until, tokens=tokens):
            return replace(handoff, state=Reviewing(state.document, until, tokens)), ()
        case CalledOff(why=why):
            return _end(handoff, Outcome.CANCELLED, why)
        case DocumentSealed(document=document):
            return replace(handoff, state=replace(state, document=document)), ()
        case Seen() if _wakes(state, event):
            return replace(handoff, state=Reviewing(state.document)), ()
        case _:
            return _same(handoff)


def _settling(handoff: Handoff, state: Settling, event: Event) -> Step:
    match event:
        case DocumentSealed(document=document) if state.refreshing:
            return _enter(handoff, Stopping(document))
        case DocumentFailed() if state.refreshing:
            # The sealed document is still whole; only its facts are a little old.
            return _enter(handoff, Stopping(state.document))
        case Declined():
            return _end(handoff, Outcome.REFUSED, "the pilot said no")
        case CalledOff(why=why):
            return _end(handoff, Outcome.CANCELLED, why)
        case Seen() if not state.refreshing:
            return _seen_settling(handoff, state, event)
        case _:
            return _same(handoff)


def _seen_settling(handoff: Handoff, state: Settling, seen: Seen) -> Step:
    if not seen.predecessor_alive:
        return _enter(handoff, Stopping(state.document))
    why = _unsettled(handoff.plan, state, seen)
    if why:
        return _interrupt_or_wait(handoff, state, seen, why)
    if seen.moved:
        return _enter(handoff, replace(state, refreshing=True))
    return _enter(handoff, Stopping(state.document))


def _unsettled(plan: Plan, state: Settling, seen: Seen) -> str | None:
    """Why the old process cannot be ended yet. `--now` waits only for its own interrupt."""
    if not plan.now:
        return not_now(seen, boundary=True)
    hurried = state.interrupted_at is not None and seen.now - state.interrupted_at > HURRY
    if seen.turn is Turn.WORKING and not hurried:
        return "for the interrupted turn to end"
    return None


def _interrupt_or_wait(handoff: Handoff, state: Settling, seen: Seen, why: str) -> Step:
    overdue = seen.forced and seen.now - state.since > handoff.plan.grace
    due = handoff.plan.now or overdue
    if due and seen.turn is Turn.WORKING and state.interrupted_at is None:
        cut = replace(state, interrupted_at=seen.now, why=why)
        return replace(handoff, state=cut), (Interrupt(),)
    return _wait(handoff, state, why)


def _stopping(handoff: Handoff, state: Stopping, event: Event) -> Step:
    match event:
        case PredecessorGone():
            return _enter(handoff, Starting(state.document))
        case PredecessorSurvived(why=why):
            return _end(handoff, Outcome.FAILED, why)
        case _:
            return _same(handoff)


def _starting(handoff: Handoff, state: Starting, event: Event) -> Step:
    match event:
        case Started(now=now):
            until = now + handoff.plan.confirm_within
            return _enter(handoff, Confirming(state.document, state.attempt, until))
        case StartFailed(why=why):
            return _another_start(handoff, state.document, state.attempt, why)
        case _:
            return _same(handoff)


def _another_start(handoff: Handoff, document: Document, attempt: int, why: str) -> Step:
    if attempt < len(handoff.plan.successors):
        return _enter(handoff, Starting(document, attempt + 1))
    return _enter(handoff, Reviving(document, why))


def _confirming(handoff: Handoff, state: Confirming, event: Event) -> Step:
    match event:
        case Seen(successor_replied=True):
            done = Ended(Outcome.DONE, document=state.document, attempt=state.attempt)
            return replace(handoff, state=done), ()
        case Seen(successor_alive=False):
            why = "the new session ended before its first reply"
            return _another_start(handoff, state.document, state.attempt, why)
        case Seen(now=now, successor_dialog=True):
            until = now + handoff.plan.confirm_within
            return replace(handoff, state=replace(state, until=until)), ()
        case Seen(now=now) if now > state.until:
            why = "the new session gave no reply in time"
            return _another_start(handoff, state.document, state.attempt, why)
        case StartFailed(why=why):
            return _another_start(handoff, state.document, state.attempt, why)
        case _:
            return _same(handoff)


def _reviving(handoff: Handoff, state: Reviving, event: Event) -> Step:
    match event:
        case Started():
            return _end(handoff, Outcome.REVIVED, state.why)
        case StartFailed(why=why):
            return _end(handoff, Outcome.FAILED, f"{state.why}; then: {why}")
        case _:
            return _same(handoff)

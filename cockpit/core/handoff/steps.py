"""What the rules of every state are made of: going on, staying, waiting, ending, the next writer.

`entry` says what a state asks for when it is entered. A supervisor that comes back gives it
again: commands are idempotent, so nothing else has to be replayed.
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.handoff.commands import (
    Command,
    Compose,
    EndPredecessor,
    Prepare,
    Refresh,
    RevivePredecessor,
    StartSuccessor,
)
from cockpit.core.handoff.events import Seen, Turn
from cockpit.core.handoff.states import (
    Asked,
    Documenting,
    Ended,
    Handoff,
    Outcome,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    State,
    Stopping,
    Waiting,
)

Step = tuple[Handoff, tuple[Command, ...]]
"""The next handoff, and what is to be done."""

HURRY = 10.0
"""Seconds that `--now` waits after its one interrupt."""


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


def same(handoff: Handoff) -> Step:
    """Nothing changes and nothing is asked for."""
    return handoff, ()


def enter(handoff: Handoff, state: State) -> Step:
    """Go to a state and ask for what it needs."""
    moved = replace(handoff, state=state)
    return moved, entry(moved)


def end(handoff: Handoff, outcome: Outcome, why: str = "", *extra: Command) -> Step:
    """It is over; a sealed document stays with the outcome."""
    ended = Ended(outcome, why, handoff.document)
    return replace(handoff, state=ended), extra


def write(handoff: Handoff, writer: str, now: float, why: str = "") -> Step:
    """Give the pen to a writer that needs nothing of the agent, or to a given document."""
    state = Documenting(
        writer=writer,  # type: ignore[arg-type]
        since=now,
        until=now + handoff.plan.deadline,
        composing=True,
        passed_over=why,
    )
    return enter(handoff, state)


def next_writer(handoff: Handoff, after: str, why: str, now: float, *extra: Command) -> Step:
    """The writer that follows in the plan; the facts writer stands at the end of every plan.

    `why` says why the one before gave no document.
    """
    writers = handoff.plan.writers
    place = writers.index(after) + 1 if after in writers else 0
    following = writers[place] if place < len(writers) else "facts"
    moved, commands = write(handoff, following, now, f"{after}: {why}")
    return moved, (*extra, *commands)


def wakes(state: Asked | Reviewing, seen: Seen) -> bool:
    """Whether a question that was put off is to be put again."""
    until, tokens = state.snoozed_until, state.snoozed_tokens
    grown = seen.tokens is not None and tokens is not None and seen.tokens >= tokens
    return (
        grown or (tokens is not None and seen.forced) or (until is not None and seen.now >= until)
    )


def wait(handoff: Handoff, state: Waiting | Settling, why: str) -> Step:
    """Stay, and say what for."""
    if isinstance(state, Waiting):
        return _stay(handoff, replace(state, why=why, queued=False))
    return _stay(handoff, replace(state, why=why))


def queue(handoff: Handoff, state: Waiting, why: str) -> Step:
    """Stay until other handoffs have made room."""
    return _stay(handoff, replace(state, why=why, queued=True))


def _stay(handoff: Handoff, state: Waiting | Settling) -> Step:
    return same(handoff) if state == handoff.state else (replace(handoff, state=state), ())


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

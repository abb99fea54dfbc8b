"""Functions for the rules of all states: enter a state, stay, wait, end, start the next writer.

`entry` returns the commands for entering a state. A restarted supervisor runs these commands again:
commands are idempotent, so nothing else has to be replayed.
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
from cockpit.core.handoff.events import CalledOff, Observation, Turn
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
"""The handoff after an event, and the commands to perform."""

HURRY = 10.0
"""Seconds that a handoff waits for the end of a turn that it has interrupted."""


def entry(handoff: Handoff) -> tuple[Command, ...]:
    """Return the commands for entering the handoff's state."""
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
    """Return the handoff unchanged, without commands."""
    return handoff, ()


def enter(handoff: Handoff, state: State) -> Step:
    """Return the handoff in a new state, and the commands for entering the state."""
    moved = replace(handoff, state=state)
    return moved, entry(moved)


def end(handoff: Handoff, outcome: Outcome, why: str = "", *extra: Command) -> Step:
    """Return the ended handoff, with its sealed document if there is one, and `extra` commands."""
    ended = Ended(outcome, why, handoff.document)
    return replace(handoff, state=ended), extra


def call_off(handoff: Handoff, event: CalledOff, *extra: Command) -> Step:
    """Return the handoff, cancelled before the old process was ended, with `extra` commands."""
    ended = Ended(Outcome.CANCELLED, event.why, handoff.document, compacted=event.compacted)
    return replace(handoff, state=ended), extra


def write(handoff: Handoff, writer: str, now: float, why: str = "") -> Step:
    """Return the handoff in `Documenting`, with the command to compose the document at once.

    Used for a writer that does not need the agent, and for an existing document. `why` is the
    reason that the previous writer failed.
    """
    state = Documenting(
        writer=writer,  # type: ignore[arg-type]
        since=now,
        until=now + handoff.plan.deadline,
        composing=True,
        passed_over=why,
    )
    return enter(handoff, state)


def next_writer(handoff: Handoff, after: str, why: str, now: float, *extra: Command) -> Step:
    """Return the handoff with the next writer of the plan; with the facts writer if none is left.

    `why` is the reason that the writer `after` failed.
    """
    writers = handoff.plan.writers
    place = writers.index(after) + 1 if after in writers else 0
    following = writers[place] if place < len(writers) else "facts"
    moved, commands = write(handoff, following, now, f"{after}: {why}")
    return moved, (*extra, *commands)


def wakes(state: Asked | Reviewing, seen: Observation) -> bool:
    """Return whether a snooze is over and the user must be asked again."""
    until, tokens = state.snoozed_until, state.snoozed_tokens
    grown = seen.tokens is not None and tokens is not None and seen.tokens >= tokens
    return (
        grown or (tokens is not None and seen.forced) or (until is not None and seen.now >= until)
    )


def wait(handoff: Handoff, state: Waiting | Settling, why: str) -> Step:
    """Return the handoff in the same state, with the reason why it waits."""
    if isinstance(state, Waiting):
        return _stay(handoff, replace(state, why=why, queued=False))
    return _stay(handoff, replace(state, why=why))


def queue(handoff: Handoff, state: Waiting, why: str) -> Step:
    """Return the handoff in the same state, marked as waiting only for other handoffs."""
    return _stay(handoff, replace(state, why=why, queued=True))


def _stay(handoff: Handoff, state: Waiting | Settling) -> Step:
    return same(handoff) if state == handoff.state else (replace(handoff, state=state), ())


def not_now(seen: Observation, *, boundary: bool) -> str | None:
    """Return why the agent cannot be asked for the document now; None if the agent can be asked.

    With `boundary`, a running subagent or turn is a reason too: the agent's process is about to be
    ended.
    """
    if seen.git_busy:
        return f"a git operation is in progress: {seen.git_busy}"
    if seen.turn is Turn.DIALOG:
        return "a question for you is open in the pane"
    if boundary and seen.subagents:
        return "subagents are running: " + ", ".join(seen.subagents)
    if boundary and seen.turn is Turn.WORKING:
        return "the agent is finishing its turn"
    if seen.turn is Turn.IDLE and seen.composer_clean is False:
        return "there is text in the prompt box"
    if seen.turn is Turn.UNKNOWN:
        return "the agent's activity is unknown"
    return None

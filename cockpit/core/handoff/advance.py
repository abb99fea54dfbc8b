"""The transition function: `advance(handoff, event)` returns the next handoff and its commands.

Pure, and defined for every state and event. A test checks each invariant:

- no path reaches `Stopping` without a sealed document;
- no process is ended before `Stopping`; after the old process has ended, the handoff starts a
  successor or reopens the old session, unless the job continues on another machine or all agents
  are being ended;
- a successor is started only after the end of the previous process was verified;
- an event that has no meaning in a state changes nothing.

The rules of each state are in `writing` and `swapping`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cockpit.core.handoff.commands import Withdraw
from cockpit.core.handoff.events import Abandoned, Event, Resumed
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Documenting,
    Ended,
    Handoff,
    Moving,
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
from cockpit.core.handoff.steps import Step, end, enter, entry
from cockpit.core.handoff.swapping import (
    confirming,
    moving,
    reviewing,
    reviving,
    settling,
    starting,
    stopping,
)
from cockpit.core.handoff.writing import asked, documenting, waiting

__all__ = ["Step", "advance", "begin", "entry", "rebased"]


def begin(plan: Plan, now: float) -> Step:
    """Create a handoff: `Asked` if the user is asked first, else `Waiting`."""
    state: State = Asked() if plan.ask else Waiting(since=now)
    return enter(Handoff(plan, state), state)


def rebased(handoff: Handoff, now: float) -> Handoff:
    """Return the handoff after a reboot: time limits start again at `now`, a timed snooze ends."""
    state = handoff.state
    match state:
        case Waiting():
            # The tries are kept, because the transcript still shows whether a request arrived.
            state = Waiting(since=now, why=state.why, tries=state.tries, queued=state.queued)
        case Documenting():
            state = replace(state, since=now, until=now + handoff.plan.deadline)
        case Settling():
            forced = now if state.forced_at is not None else None
            state = replace(state, since=now, interrupted_at=None, forced_at=forced)
        case Confirming():
            state = replace(state, until=now + handoff.plan.confirm_within)
        case Asked() | Reviewing():
            state = replace(state, snoozed_until=None)
        case _:
            pass
    return replace(handoff, state=state)


def advance(handoff: Handoff, event: Event) -> Step:
    """Return the handoff after an event, and the commands to perform."""
    state = handoff.state
    if isinstance(event, Abandoned) and not isinstance(state, Ended):
        return end(handoff, Outcome.CANCELLED, event.why, Withdraw())
    if isinstance(event, Resumed):
        return _resumed(handoff), entry(handoff)
    match state:
        case Ended():
            return handoff, ()
        case Asked():
            return asked(handoff, state, event)
        case Waiting():
            return waiting(handoff, state, event)
        case Documenting():
            return documenting(handoff, state, event)
        case Reviewing():
            return reviewing(handoff, state, event)
        case Settling():
            return settling(handoff, state, event)
        case Moving():
            return moving(handoff, state, event)
        case Stopping():
            return stopping(handoff, state, event)
        case Starting():
            return starting(handoff, state, event)
        case Confirming():
            return confirming(handoff, state, event)
        case Reviving():
            return reviving(handoff, state, event)
        case _:
            assert_never(state)


def _resumed(handoff: Handoff) -> Handoff:
    if isinstance(handoff.state, Waiting):
        return replace(handoff, state=replace(handoff.state, requested_at=None))
    return handoff

"""The rule book under any order of events: a machine of them, checked after every step.

A virtual clock, every state, every event, sensible or not, with interruptions and reboots in
between. `simulated_world` plays the engine honestly; here nobody is honest.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import ClassVar, get_args

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cockpit.core.handoff import commands as do
from cockpit.core.handoff import events as on
from cockpit.core.handoff.advance import Step, advance, begin, entry, rebased
from cockpit.core.handoff.record import from_record, to_record
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Document,
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
    Successor,
    Waiting,
    is_revocable,
)
from cockpit.core.handoff.writing import DELIVERY_TRIES
from cockpit.core.ids import SessionId
from tests.long_cases import cases

MANY = 400
"""Orders of events that reach every state and outcome."""
WRITERS = (("agent", "sdk", "facts"), ("agent", "facts"), ("sdk",), ("agent",), ("facts",))
PREDECESSOR = "predecessor"
"""Who lives in the beginning."""
ONWARDS: dict[type[State], set[type[State]]] = {
    Asked: {Waiting, Documenting, Ended},
    Waiting: {Documenting, Ended},
    Documenting: {Reviewing, Settling, Ended},
    Reviewing: {Settling, Ended},
    Settling: {Stopping, Moving, Ended},
    Moving: {Stopping, Ended},
    Stopping: {Starting, Ended},
    Starting: {Confirming, Reviving},
    Confirming: {Starting, Reviving, Ended},
    Reviving: {Ended},
    Ended: set(),
}
"""Every way there is from one kind of state to another."""


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    starts = draw(st.integers(1, 3))
    return Plan(
        reason=draw(
            st.sampled_from(("threshold", "limit", "manual", "agent", "compaction", "loop"))
        ),
        ask=draw(st.booleans()),
        review=draw(st.booleans()),
        successors=tuple(
            Successor(SessionId(f"s{number}"), f"run{number}") for number in range(1, starts + 1)
        ),
        now=draw(st.booleans()),
        writers=draw(st.sampled_from(WRITERS)),
        given=draw(st.sampled_from((None, None, None, "/given.md"))),
        re_asks=draw(st.integers(0, 2)),
        move_to=draw(st.sampled_from(("", "gpu1"))),
    )


def starts() -> st.SearchStrategy[State | None]:
    """Where a handoff is found; None for the very beginning."""
    sealed = Document("/handoff.md", "d" * 64, "agent")
    return st.sampled_from(
        (
            None,
            Waiting(since=0.0),
            Documenting("agent", 0.0, 180.0),
            Reviewing(sealed),
            Settling(sealed, 0.0),
            Moving(sealed),
            Stopping(sealed),
            Starting(sealed),
            Confirming(sealed, 1, 180.0),
            Reviving(sealed, "none would start"),
        )
    )


def sights(now: float) -> st.SearchStrategy[on.Observation]:
    return st.builds(
        on.Observation,
        now=st.just(now),
        turn=st.sampled_from(on.Turn),
        composer_clean=st.sampled_from((True, False, None)),
        tool_running=st.booleans(),
        compactions=st.integers(0, 2),
        subagents=st.sampled_from(((), ("Explore",))),
        git_busy=st.sampled_from((None, None, "rebase")),
        forced=st.booleans(),
        tokens=st.sampled_from((None, 100_000, 200_000)),
        queue=st.sampled_from((None, None, "queued behind web")),
        delivered=st.booleans(),
        user_prompted=st.sampled_from((False, False, False, True)),
        moved=st.booleans(),
        predecessor_alive=st.sampled_from((True, True, False)),
        draft=st.sampled_from(on.Draft),
        problems=st.sampled_from(((), ("no goal",))),
        successor_alive=st.booleans(),
        successor_replied=st.booleans(),
        successor_dialog=st.booleans(),
    )


def answers() -> st.SearchStrategy[on.Event]:
    """Every other event; what no command was given for among them."""
    documents = st.builds(
        Document,
        path=st.just("/handoff.md"),
        sha256=st.sampled_from(("a" * 64, "b" * 64)),
        writer=st.sampled_from(("agent", "sdk", "facts")),
    )
    now = st.just(0.0)
    why = st.just("so it is")
    return st.one_of(
        st.builds(on.Approved, now, st.booleans()),
        st.builds(on.Declined),
        st.builds(
            on.Snoozed,
            st.sampled_from((None, 10.0, 9e9)),
            st.sampled_from((None, 150_000)),
        ),
        st.builds(on.CalledOff, why),
        st.builds(on.Moved),
        st.builds(on.DocumentSealed, now, documents),
        st.builds(on.DocumentFailed, now, why),
        st.builds(on.PredecessorGone),
        st.builds(on.PredecessorSurvived, why),
        st.builds(on.Started, now),
        st.builds(on.StartFailed, why),
    )


class Rules(RuleBasedStateMachine):
    """One handoff, and what its commands have come to so far."""

    handoff: Handoff
    reached: ClassVar[set[object]] = set()
    """Kinds of states, and outcomes, that any example came to."""

    @initialize(plan=plans(), start=starts())
    def begins(self, plan: Plan, start: State | None) -> None:
        """At the beginning, or anywhere in the middle with the world that belongs to it."""
        self.now = 0.0
        self.given: Counter[str] = Counter()
        self.attempts: list[int] = []
        self.living = {PREDECESSOR}
        self.proved_gone = isinstance(start, Starting | Confirming | Reviving)
        if self.proved_gone:
            plan = replace(plan, move_to="")
        elif isinstance(start, Moving):
            plan = replace(plan, move_to="gpu1")
        if start is None:
            self._take(begin(plan, self.now))
            return
        self.handoff = Handoff(plan, start)
        if self.proved_gone:
            self.attempts = [1]
            self.living = {"run1"} if isinstance(start, Confirming) else set()

    @precondition(lambda self: isinstance(self.handoff.state, Ended))
    @rule(plan=plans(), start=starts())
    def begins_anew(self, plan: Plan, start: State | None) -> None:
        self.begins(plan, start)

    @rule(data=st.data(), later=st.sampled_from((0.0, 0.5, 4.0, 20.0, 200.0, 900.0)))
    def sees(self, data: st.DataObject, later: float) -> None:
        self.now += later
        self._happens(data.draw(sights(self.now)))

    @rule(times=st.integers(1, 12), forced=st.booleans(), turn=st.sampled_from(on.Turn))
    def sees_no_change(self, times: int, forced: bool, turn: on.Turn) -> None:
        """Time passes, and the agent does nothing of what it is asked for."""
        for _ in range(times):
            self.now += 20.0
            self._happens(on.Observation(self.now, turn=turn, composer_clean=True, forced=forced))
            self.the_agent_is_asked_within_its_budget()

    @rule(event=answers())
    def hears(self, event: on.Event) -> None:
        """Anything at all, at any moment."""
        if isinstance(event, on.Approved | on.DocumentSealed | on.DocumentFailed):
            event = replace(event, now=self.now)
        if isinstance(event, on.Started | on.PredecessorGone):
            return  # the only two that the engine must not say before they are true: see `does`
        self._happens(event)

    @precondition(lambda self: entry(self.handoff) != ())
    @rule(well=st.booleans())
    def does(self, well: bool) -> None:
        """What the state asks for is done, and answered truly."""
        for command in entry(self.handoff):
            if isinstance(self.handoff.state, Ended):
                return
            if answer := self._perform(command, well=well):
                self._happens(answer)

    @rule(boot=st.booleans())
    def dies_and_comes_back(self, boot: bool) -> None:
        """Only what was written down is left, and what it says is done once more."""
        held = from_record(json.loads(json.dumps(to_record(self.handoff))))
        assert held == self.handoff
        if boot:
            held = rebased(held, self.now)
            self.given["Interrupt"] = 0
        self.handoff, commands = advance(held, on.Resumed())
        assert commands == entry(self.handoff) == entry(held)

    def _perform(self, command: do.Command, *, well: bool) -> on.Event | None:
        sealed = Document("/handoff.md", "c" * 64, "facts")
        match command:
            case do.Compose() | do.Refresh() if well:
                return on.DocumentSealed(self.now, sealed)
            case do.Compose() | do.Refresh():
                return on.DocumentFailed(self.now, "no")
            case do.EndPredecessor() if well:
                self.living.discard(PREDECESSOR)
                self.proved_gone = True
                return on.PredecessorGone()
            case do.EndPredecessor():
                return on.PredecessorSurvived("it hangs")
            case do.StartSuccessor(attempt=attempt):
                self.living = {who for who in self.living if not who.startswith("run")}
                if well:
                    self.living.add(self.handoff.successor(attempt).run)
                return on.Started(self.now) if well else on.StartFailed("no such program")
            case do.RevivePredecessor():
                self.living = {PREDECESSOR} if well else set()
                return on.Started(self.now) if well else on.StartFailed("no such program")
            case _:
                return None

    def _happens(self, event: on.Event) -> None:
        before = self.handoff
        assert advance(before, event) == advance(before, event)
        self._take(advance(before, event), before, event)

    def _take(
        self, step: Step, before: Handoff | None = None, event: on.Event | None = None
    ) -> None:
        self.handoff, commands = step
        for command in commands:
            self._allowed(command)
        if before is None:
            return
        old, new = type(before.state), type(self.handoff.state)
        assert new is old or new in ONWARDS[old], f"{old} to {new} by {event}"
        assert self.handoff.plan.successors == before.plan.successors
        assert self.handoff.plan.review or not before.plan.review or isinstance(event, on.Approved)
        if before.document is not None and new is not Ended:
            assert self.handoff.document is not None

    def _allowed(self, command: do.Command) -> None:
        """What is asked for must be permitted where the handoff stands now."""
        state = self.handoff.state
        self.given[type(command).__name__] += 1
        match command:
            case do.EndPredecessor():
                assert isinstance(state, Stopping)
                assert len(state.document.sha256) == 64
            case do.StartSuccessor(attempt=attempt):
                assert isinstance(state, Starting)
                assert self.proved_gone
                assert 1 <= attempt <= len(self.handoff.plan.successors)
                assert attempt not in self.attempts
                self.attempts.append(attempt)
            case do.RevivePredecessor():
                assert isinstance(state, Reviving)
            case do.Request() | do.AskAgain() | do.Prepare():
                assert self.living == {PREDECESSOR}
            case do.Interrupt():
                assert isinstance(state, Waiting | Settling)
            case do.AskToEnd():
                assert isinstance(state, Settling)
            case _:
                pass

    @invariant()
    def at_most_one_agent_lives(self) -> None:
        assert len(self.living) <= 1

    @invariant()
    def nothing_is_ended_without_a_document(self) -> None:
        state = self.handoff.state
        if isinstance(
            state, Reviewing | Settling | Moving | Stopping | Starting | Confirming | Reviving
        ):
            assert self.handoff.document is not None
        if not is_revocable(self.handoff) and not isinstance(state, Ended):
            assert self.handoff.document is not None
        if is_revocable(self.handoff):
            assert self.living == {PREDECESSOR}

    @invariant()
    def the_agent_is_asked_within_its_budget(self) -> None:
        plan = self.handoff.plan
        assert self.given["Request"] <= DELIVERY_TRIES
        assert self.given["AskAgain"] <= plan.re_asks
        assert self.given["Interrupt"] <= 2
        assert self.given["AskToEnd"] <= 1
        assert self.attempts == sorted(self.attempts)
        assert len(self.attempts) <= len(plan.successors)

    @invariant()
    def an_end_is_an_end_and_says_why(self) -> None:
        state = self.handoff.state
        self.reached.add(type(state))
        if not isinstance(state, Ended):
            return
        self.reached.add(state.outcome)
        match state.outcome:
            case Outcome.DONE:
                assert state.document is not None
                assert state.attempt == self.attempts[-1]
            case Outcome.CANCELLED | Outcome.REFUSED:
                assert self.living == {PREDECESSOR}
                assert state.why
            case Outcome.MOVED:
                assert self.living == set()
                assert state.document is not None
                assert self.attempts == []
                assert self.handoff.plan.move_to in state.why
            case Outcome.REVIVED:
                assert self.living == {PREDECESSOR}
            case Outcome.FAILED:
                assert state.why


@pytest.mark.parametrize("orders", cases(80, long=[MANY]))
def test_no_order_of_events_breaks_a_rule(orders: int) -> None:
    Rules.reached.clear()
    run_state_machine_as_test(
        Rules,
        settings=settings(
            max_examples=orders,
            stateful_step_count=60,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
    # Few orders end with a job on another host.
    seldom = set() if orders == MANY else {Outcome.MOVED}
    assert Rules.reached | seldom == {*get_args(State), *Outcome}

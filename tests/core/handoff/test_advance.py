"""The rule book of a handoff: what each state does, and what no path may do."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.core.handoff import commands as do
from cockpit.core.handoff import events as on
from cockpit.core.handoff.advance import Step, advance, begin, entry, rebased
from cockpit.core.handoff.record import from_record, to_record
from cockpit.core.handoff.states import (
    PHASES,
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
from cockpit.core.handoff.steps import HURRY
from cockpit.core.handoff.writing import (
    BOUNDARY_PATIENCE,
    DELIVERY_PATIENCE,
    DELIVERY_TRIES,
    SILENCE,
)
from cockpit.core.ids import SessionId

SUCCESSORS = tuple(Successor(SessionId(f"s{number}"), f"run{number}") for number in (1, 2, 3))
SEALED = Document("/w/handoff.md", "ab" * 32, "agent")
AUTO = Plan("threshold", ask=False, review=False, successors=SUCCESSORS)
PROMPT = replace(AUTO, ask=True, review=True)
IDLE = on.Observation(now=10.0, turn=on.Turn.IDLE, composer_clean=True)
WORKING = on.Observation(now=10.0, turn=on.Turn.WORKING)


def through(handoff: Handoff, *events: on.Event) -> Step:
    """Several events in order: the last handoff, and all commands."""
    asked: tuple[do.Command, ...] = ()
    for event in events:
        handoff, commands = advance(handoff, event)
        asked += commands
    return handoff, asked


def at(state: State, plan: Plan = AUTO) -> Handoff:
    return Handoff(plan, state)


def test_an_automatic_handoff_goes_through_every_phase_without_a_question() -> None:
    handoff, _ = begin(AUTO, 0.0)
    seen = []
    for event in (
        WORKING,
        replace(WORKING, delivered=True),
        replace(WORKING, draft=on.Draft.UNSTABLE),
        replace(WORKING, draft=on.Draft.VALID),
        on.DocumentSealed(20.0, SEALED),
        IDLE,
        on.PredecessorGone(),
        on.Started(30.0),
        replace(IDLE, successor_replied=True),
    ):
        handoff, _ = advance(handoff, event)
        seen.append(type(handoff.state))
    assert seen == [
        Waiting,
        Documenting,
        Documenting,
        Documenting,
        Settling,
        Stopping,
        Starting,
        Confirming,
        Ended,
    ]
    assert handoff.state == Ended(Outcome.DONE, document=SEALED, attempt=1)


def test_a_prompting_handoff_asks_twice() -> None:
    handoff, commands = begin(PROMPT, 0.0)
    assert isinstance(handoff.state, Asked)
    assert commands == (do.Prepare(),)
    handoff, _ = through(
        handoff,
        on.Approved(1.0),
        WORKING,
        replace(WORKING, delivered=True),
        replace(WORKING, draft=on.Draft.VALID),
        on.DocumentSealed(20.0, SEALED),
    )
    assert handoff.state == Reviewing(SEALED)


def test_a_straight_approval_answers_the_review_as_well() -> None:
    handoff, _ = begin(PROMPT, 0.0)
    handoff, _ = advance(handoff, on.Approved(1.0, straight=True))
    assert not handoff.plan.review


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (replace(IDLE, git_busy="rebase"), "rebase"),
        (replace(IDLE, turn=on.Turn.DIALOG), "question"),
        (replace(IDLE, composer_clean=False), "text in the prompt box"),
        (replace(IDLE, turn=on.Turn.UNKNOWN), "is unknown"),
        (replace(IDLE, queue="queued behind api"), "queued behind api"),
    ],
)
def test_a_bad_moment_is_waited_for_and_said(seen: on.Observation, why: str) -> None:
    handoff, commands = advance(at(Waiting(0.0)), seen)
    assert isinstance(handoff.state, Waiting)
    assert why in handoff.state.why
    assert commands == ()


@pytest.mark.parametrize(
    "seen",
    [
        replace(IDLE, subagents=("Explore",)),
        replace(IDLE, composer_clean=False),
        replace(IDLE, git_busy="merge"),
        replace(IDLE, turn=on.Turn.DIALOG),
    ],
)
def test_nothing_is_ended_at_a_bad_moment(seen: on.Observation) -> None:
    handoff, commands = advance(at(Settling(SEALED, 0.0)), seen)
    assert isinstance(handoff.state, Settling)
    assert handoff.state.why
    assert commands == ()


FORCED = replace(WORKING, forced=True)
TURN = "the agent is finishing its turn"


def agreed(*events: on.Event) -> Step:
    return through(at(Settling(SEALED, 0.0)), *events)


def test_an_agent_at_work_is_told_once_that_only_its_turn_is_waited_for() -> None:
    handoff, commands = agreed(WORKING, replace(WORKING, now=100.0))
    assert commands == (do.AskToEnd(),)
    assert isinstance(handoff.state, Settling)
    assert handoff.state.why == TURN
    assert isinstance(advance(handoff, IDLE)[0].state, Stopping)
    for gone in (on.Declined(), on.CalledOff("")):
        assert advance(handoff, gone)[1] == (do.Withdraw(),)


@pytest.mark.parametrize(
    "seen",
    [
        (FORCED,),
        (WORKING, FORCED),
        (WORKING, replace(WORKING, compactions=1)),
        (replace(WORKING, compactions=2), replace(WORKING, compactions=3)),
        (replace(FORCED, tool_running=True), replace(WORKING, now=11.0)),
    ],
)
def test_a_context_that_is_full_is_cut_off_between_two_tools(
    seen: tuple[on.Observation, ...],
) -> None:
    handoff, commands = agreed(*seen)
    assert commands[-1] == do.Interrupt()
    assert advance(handoff, replace(FORCED, now=12.0))[1] == ()
    ended, commands = through(handoff, replace(IDLE, moved=True), on.DocumentSealed(13.0, SEALED))
    assert commands == (do.Refresh(SEALED), do.EndPredecessor())
    assert isinstance(ended.state, Stopping)


@pytest.mark.parametrize(
    "busy", [{"tool_running": True}, {"subagents": ("Explore",)}, {"git_busy": "rebase"}]
)
def test_what_an_interrupt_would_break_off_is_given_its_time(busy: dict[str, object]) -> None:
    forced = replace(FORCED, **busy)  # type: ignore[arg-type]
    handoff, commands = agreed(forced, replace(forced, now=600.0))
    assert commands == (do.AskToEnd(),)
    assert advance(handoff, replace(forced, now=611.0))[1] == (do.Interrupt(),)


def test_an_interrupt_that_was_not_heard_does_not_hold_up_the_swap() -> None:
    handoff, _ = agreed(FORCED)
    later = replace(FORCED, now=11.0 + HURRY)
    for busy in ({"tool_running": True}, {"subagents": ("a",)}, {"git_busy": "merge"}):
        after, commands = advance(handoff, replace(later, **busy))
        assert (type(after.state), commands) == (Settling, ())
    handoff, commands = advance(handoff, later)
    assert commands == (do.EndPredecessor(),)


def test_a_machine_that_was_started_anew_gives_a_full_context_its_patience_again() -> None:
    full = at(Settling(SEALED, 0.0, interrupted_at=5.0, forced_at=3.0))
    assert rebased(full, 90.0).state == Settling(SEALED, 90.0, forced_at=90.0)


def test_now_waits_only_for_its_own_interrupt() -> None:
    plan = replace(AUTO, now=True)
    handoff, commands = advance(at(Settling(SEALED, 0.0), plan), WORKING)
    assert commands == (do.Interrupt(),)
    handoff, commands = advance(handoff, replace(WORKING, now=10.0 + HURRY / 2))
    assert commands == ()
    handoff, commands = advance(handoff, replace(WORKING, now=11.0 + HURRY))
    assert isinstance(handoff.state, Stopping)
    assert commands == (do.EndPredecessor(),)


def test_an_interrupted_agent_that_lost_the_request_is_asked_again() -> None:
    plan = replace(AUTO, now=True)
    asked = Waiting(0.0, tries=1, interrupted_at=0.0)
    later = replace(IDLE, now=1.0 + HURRY + DELIVERY_PATIENCE)
    handoff, commands = advance(at(asked, plan), later)
    assert isinstance(handoff.state, Waiting)
    assert commands == (do.Request(),)
    # One that cannot be asked is not waited for.
    busy = replace(later, composer_clean=False)
    handoff, commands = advance(at(asked, plan), busy)
    assert isinstance(handoff.state, Documenting)
    assert handoff.state.writer != "agent"
    # An agent that loses every request is given up.
    handoff, commands = advance(at(replace(asked, tries=DELIVERY_TRIES), plan), later)
    assert isinstance(handoff.state, Documenting)


def test_a_new_prompt_cancels_before_the_request_arrived() -> None:
    handoff, commands = through(at(Waiting(0.0)), WORKING, replace(WORKING, user_prompted=True))
    assert isinstance(handoff.state, Ended)
    assert handoff.state.outcome is Outcome.CANCELLED
    assert do.Withdraw() in commands


def test_a_new_prompt_while_it_is_written_brings_a_review() -> None:
    handoff = at(Documenting("agent", 0.0, 180.0))
    handoff, _ = advance(handoff, replace(WORKING, user_prompted=True))
    assert handoff.plan.review
    handoff, _ = through(
        handoff, replace(WORKING, draft=on.Draft.VALID), on.DocumentSealed(20.0, SEALED)
    )
    assert handoff.state == Reviewing(SEALED)


def test_a_request_that_an_idle_agent_does_not_take_is_given_again_then_replaced() -> None:
    handoff, now, requests = at(Waiting(0.0)), 10.0, 0
    for _ in range(3 * DELIVERY_TRIES):
        handoff, commands = advance(handoff, replace(IDLE, now=now))
        requests += commands.count(do.Request())
        now += DELIVERY_PATIENCE + 1
    assert requests == DELIVERY_TRIES
    assert isinstance(handoff.state, Documenting)
    assert handoff.state.writer == "sdk"


def test_a_request_that_missed_the_last_boundary_of_a_turn_is_pasted_soon() -> None:
    handoff, _ = advance(at(Waiting(0.0)), WORKING)
    handoff, commands = advance(handoff, replace(IDLE, now=500.0))
    assert commands == ()
    busy, commands = advance(handoff, replace(WORKING, now=600.0))
    assert advance(busy, replace(IDLE, now=601.0))[1] == ()
    late = replace(IDLE, now=501.0 + BOUNDARY_PATIENCE)
    handoff, commands = through(handoff, late, late)
    assert commands == (do.Withdraw(), do.Request())


def test_a_silent_agent_is_asked_again_and_then_the_facts_are_taken() -> None:
    handoff, now, again = at(Documenting("agent", 0.0, 1000.0)), 0.0, 0
    for _ in range(6):
        now += SILENCE + 1
        handoff, commands = advance(handoff, replace(IDLE, now=now))
        again += sum(isinstance(command, do.AskAgain) for command in commands)
    assert again == AUTO.re_asks
    assert isinstance(handoff.state, Documenting)
    assert handoff.state.writer == "sdk"
    handoff, commands = advance(handoff, on.DocumentFailed(now, "no budget"))
    assert commands == (do.Compose("facts"),)


def test_the_deadline_takes_the_pen_away() -> None:
    _handoff, commands = advance(at(Documenting("agent", 0.0, 180.0)), replace(WORKING, now=181.0))
    assert do.Withdraw() in commands
    assert do.Compose("sdk") in commands


def test_when_no_writer_can_write_the_agent_goes_on() -> None:
    handoff, commands = advance(
        at(Documenting("facts", 0.0, 180.0, composing=True)), on.DocumentFailed(5.0, "disk full")
    )
    assert isinstance(handoff.state, Ended)
    assert handoff.state.outcome is Outcome.CANCELLED
    assert "disk full" in handoff.state.why
    assert commands == ()


def test_a_document_that_was_given_is_not_asked_for() -> None:
    handoff, commands = begin(replace(AUTO, given="/w/mine.md"), 0.0)
    assert commands == ()
    handoff, commands = advance(handoff, replace(IDLE, turn=on.Turn.WORKING))
    assert commands == (do.Compose("agent"),)
    assert isinstance(handoff.state, Documenting)


def test_a_document_that_was_given_waits_in_the_queue_as_others_do() -> None:
    handoff, _ = begin(replace(AUTO, given="/w/mine.md", now=True), 0.0)
    handoff, commands = advance(handoff, replace(IDLE, queue="queued behind web"))
    assert isinstance(handoff.state, Waiting)
    assert (handoff.state.why, commands) == ("queued behind web", ())


def test_an_agent_that_went_on_has_its_facts_renewed_before_it_is_ended() -> None:
    handoff, commands = advance(at(Settling(SEALED, 0.0)), replace(IDLE, moved=True))
    assert commands == (do.Refresh(SEALED),)
    renewed = replace(SEALED, sha256="cd" * 32)
    handoff, commands = advance(handoff, on.DocumentSealed(12.0, renewed))
    assert handoff.state == Stopping(renewed)
    assert commands == (do.EndPredecessor(),)


def test_three_failed_starts_bring_the_old_session_back() -> None:
    handoff = at(Starting(SEALED))
    for attempt in (2, 3):
        handoff, commands = advance(handoff, on.StartFailed("no such program"))
        assert commands == (do.StartSuccessor(attempt),)
    handoff, commands = advance(handoff, on.StartFailed("no such program"))
    assert commands == (do.RevivePredecessor(),)
    handoff, _ = advance(handoff, on.Started(50.0))
    assert handoff.state == Ended(Outcome.REVIVED, "no such program", SEALED)


def test_a_dialog_in_the_successors_pane_stops_its_clock() -> None:
    handoff = at(Confirming(SEALED, 1, until=100.0))
    handoff, _ = advance(handoff, replace(IDLE, now=99.0, successor_dialog=True))
    handoff, commands = advance(handoff, replace(IDLE, now=150.0))
    assert isinstance(handoff.state, Confirming)
    assert commands == ()


def test_a_predecessor_that_survives_is_never_started_over() -> None:
    handoff, commands = advance(at(Stopping(SEALED)), on.PredecessorSurvived("pid 7"))
    assert isinstance(handoff.state, Ended)
    assert handoff.state.outcome is Outcome.FAILED
    assert commands == ()


def test_every_state_but_the_last_has_a_phase() -> None:
    assert set(get_args(State)) - set(PHASES) == {Ended}


# Properties

cli_events = st.floats(0, 10_000, allow_nan=False)
flags = st.booleans()
seen_events = st.builds(
    on.Observation,
    now=cli_events,
    turn=st.sampled_from(on.Turn),
    composer_clean=st.sampled_from([True, False, None]),
    subagents=st.sampled_from([(), ("Explore",)]),
    git_busy=st.sampled_from([None, "rebase"]),
    forced=flags,
    queue=st.sampled_from([None, None, "queued"]),
    delivered=flags,
    user_prompted=st.sampled_from([False, False, False, True]),
    moved=flags,
    predecessor_alive=st.sampled_from([True, True, True, False]),
    draft=st.sampled_from(on.Draft),
    successor_alive=st.sampled_from([True, True, False]),
    successor_replied=flags,
    successor_dialog=flags,
)
documents = st.builds(
    Document, st.just("/w/h.md"), st.text("abcdef", min_size=4, max_size=4), st.just("agent")
)
happenings = st.one_of(
    seen_events,
    seen_events,
    st.builds(on.Approved, cli_events, flags),
    st.just(on.Declined()),
    st.builds(on.Snoozed, cli_events),
    st.builds(on.Retargeted, st.sampled_from(["", "codex"]), st.just("")),
    st.just(on.CalledOff("stopped")),
    st.just(on.Moved()),
    st.just(on.Abandoned("all end")),
    st.just(on.Resumed()),
    st.builds(on.DocumentSealed, cli_events, documents),
    st.builds(on.DocumentFailed, cli_events, st.just("no")),
    st.just(on.PredecessorGone()),
    st.just(on.PredecessorSurvived("pid")),
    st.builds(on.Started, cli_events),
    st.just(on.StartFailed("no")),
)
plans = st.builds(
    Plan,
    reason=st.just("threshold"),
    ask=flags,
    review=flags,
    successors=st.just(SUCCESSORS),
    now=flags,
    writers=st.sampled_from([("agent", "sdk", "facts"), ("agent", "facts"), ("facts",), ()]),
    given=st.sampled_from([None, "/w/mine.md"]),
    move_to=st.sampled_from(["", "", "gpu1"]),
)


@settings(max_examples=400, deadline=None)
@given(plans, st.lists(happenings, max_size=60))
def test_no_path_ends_or_starts_what_it_must_not(plan: Plan, story: list[on.Event]) -> None:
    """Any story at all: safety holds at each step, and commands carry what they need."""
    handoff, commands = begin(plan, 0.0)
    gone = False
    for event in story:
        before = handoff
        handoff, commands = advance(handoff, event)
        gone = gone or isinstance(event, on.PredecessorGone)
        if isinstance(handoff.state, Stopping | Starting | Confirming | Reviving):
            assert handoff.document is not None
        for command in commands:
            if isinstance(command, do.EndPredecessor):
                assert isinstance(handoff.state, Stopping)
                assert not isinstance(before.state, Stopping)
            if isinstance(command, do.StartSuccessor | do.RevivePredecessor):
                assert isinstance(before.state, Stopping | Starting | Confirming)
                assert gone
            if isinstance(command, do.StartSuccessor):
                assert 1 <= command.attempt <= len(SUCCESSORS)
        if isinstance(before.state, Stopping | Starting | Confirming | Reviving):
            forward = (Stopping, Starting, Confirming, Reviving, Ended)
            assert isinstance(handoff.state, forward)
        if isinstance(before.state, Ended):
            assert handoff == before
        assert from_record(to_record(handoff)) == handoff


@settings(max_examples=200, deadline=None)
@given(plans, st.lists(happenings, max_size=30))
def test_recovery_asks_for_nothing_that_the_state_had_not_asked_for(
    plan: Plan, story: list[on.Event]
) -> None:
    handoff, _last = begin(plan, 0.0)
    for event in story:
        after, commands = advance(handoff, event)
        if type(after.state) is not type(handoff.state):
            # A command of recovery is always one that entering this state gave.
            assert set(map(type, entry(after))) <= set(map(type, commands))
        handoff = after


@settings(max_examples=100, deadline=None)
@given(plans, st.lists(happenings, max_size=20), cli_events)
def test_a_reboot_moves_every_deadline_to_the_new_clock(
    plan: Plan, story: list[on.Event], now: float
) -> None:
    handoff, _ = begin(plan, 0.0)
    handoff, _ = through(handoff, *story)
    moved = rebased(handoff, now)
    assert type(moved.state) is type(handoff.state)
    for name in ("until", "since"):
        held = getattr(moved.state, name, None)
        assert held is None or held >= now


def test_only_what_has_ended_nothing_can_be_called_off() -> None:
    revocable: list[State] = [Asked(), Waiting(0.0), Documenting("agent", 0.0, 1.0)]
    revocable += [Reviewing(SEALED)]
    assert all(
        is_revocable(at(state)) for state in [*revocable, Settling(SEALED, 0.0), Moving(SEALED)]
    )
    final: list[State] = [
        Stopping(SEALED),
        Starting(SEALED),
        Confirming(SEALED, 1, 9.0),
        Reviving(SEALED, ""),
    ]
    assert not any(is_revocable(at(state)) for state in [*final, Ended(Outcome.DONE)])


@pytest.mark.parametrize(
    "state", [Asked(), Waiting(0.0), Reviewing(SEALED), Settling(SEALED, 0.0), Moving(SEALED)]
)
def test_what_a_compaction_called_off_says_so(state: State) -> None:
    for compacted in (True, False):
        ended = advance(at(state), on.CalledOff("it compacted", compacted=compacted))[0]
        kept = getattr(state, "document", None)
        why = "it compacted"
        assert ended.state == Ended(Outcome.CANCELLED, why, kept, compacted=compacted)
        assert from_record(to_record(ended)) == ended


@pytest.mark.parametrize("event", [on.Declined(), on.CalledOff("stopped")])
def test_a_successor_that_was_not_confirmed_can_be_given_up(event: on.Event) -> None:
    handoff, commands = advance(at(Confirming(SEALED, 1, until=100.0)), event)
    assert isinstance(handoff.state, Reviving)
    assert commands == (do.RevivePredecessor(),)


@pytest.mark.parametrize("by", ["you", "ana@laptop", "agent web"])
def test_a_refused_handoff_names_who_refused_it(by: str) -> None:
    states = (
        Asked(),
        Waiting(0.0),
        Documenting("agent", since=0.0, until=180.0),
        Reviewing(SEALED),
        Settling(SEALED, 0.0),
        Moving(SEALED),
    )
    for state in states:
        ended, _ = advance(at(state), on.Declined(by))
        kept = getattr(state, "document", None)
        assert ended.state == Ended(Outcome.REFUSED, f"refused by {by}", kept)
        assert from_record(to_record(ended)) == ended
    reviving, _ = advance(at(Confirming(SEALED, 1, until=100.0)), on.Declined(by))
    assert reviving.state == Reviving(SEALED, f"{by} cancelled the new session")


def test_a_record_that_is_not_one_is_refused() -> None:
    good = to_record(at(Settling(SEALED, 1.0)))
    unread = {**good, "state": {"is": "Flying"}}
    several: list[dict[str, object]] = [{}, {"plan": {}, "state": {}}, unread, {"plan": 7}]
    for bad in several:
        with pytest.raises(ValueError, match="not a handoff"):
            from_record(bad)


def test_a_question_put_off_until_more_is_used_comes_back_there_or_in_the_force_band() -> None:
    asked, _ = begin(PROMPT, 0.0)
    put_off, commands = advance(asked, on.Snoozed(None, tokens=164_000))
    assert commands == ()
    assert advance(put_off, on.Observation(now=9e9, tokens=163_999)) == (put_off, ())
    assert advance(put_off, on.Observation(now=1.0)) == (put_off, ())
    again, commands = advance(put_off, on.Observation(now=1.0, tokens=164_000))
    assert again.state == Asked()
    assert commands
    forced, _ = advance(put_off, on.Observation(now=1.0, tokens=150_000, forced=True))
    assert forced.state == Asked()


EVERY_STATE: tuple[State, ...] = (
    Asked(),
    Waiting(0.0),
    Waiting(0.0, requested_at=1.0, tries=1, laid=True),
    Documenting("agent", 0.0, 200.0),
    Documenting("facts", 0.0, 200.0, composing=True),
    Reviewing(SEALED),
    Settling(SEALED, 0.0),
    Settling(SEALED, 0.0, refreshing=True),
    Moving(SEALED),
    Stopping(SEALED),
    Starting(SEALED),
    Confirming(SEALED, 1, 200.0),
    Reviving(SEALED, "none would start"),
    Ended(Outcome.DONE, document=SEALED, attempt=1),
)
EVERY_EVENT: tuple[on.Event, ...] = (
    on.Observation(10.0),
    on.Approved(10.0),
    on.Declined(),
    on.Snoozed(900.0),
    on.CalledOff("it compacted"),
    on.Moved(),
    on.Abandoned("all end"),
    on.Resumed(),
    on.DocumentSealed(10.0, SEALED),
    on.DocumentFailed(10.0, "no"),
    on.PredecessorGone(),
    on.PredecessorSurvived("it hangs"),
    on.Started(10.0),
    on.StartFailed("no such program"),
)
MEANT: dict[type, set[type]] = {
    Asked: {on.Approved, on.Declined, on.Snoozed, on.CalledOff},
    Waiting: {on.Observation, on.Declined, on.CalledOff},
    Documenting: {on.DocumentSealed, on.DocumentFailed, on.Declined, on.CalledOff},
    Reviewing: {on.Approved, on.Declined, on.Snoozed, on.CalledOff},
    Settling: {on.Observation, on.Declined, on.CalledOff, on.DocumentSealed, on.DocumentFailed},
    Moving: {on.Moved, on.Declined, on.CalledOff},
    Stopping: {on.PredecessorGone, on.PredecessorSurvived},
    Starting: {on.Started, on.StartFailed},
    Confirming: {on.StartFailed, on.Declined, on.CalledOff},
    Reviving: {on.Started, on.StartFailed},
    Ended: set(),
}
"""What can change a state; `Observation` only where this bland sight of the world does."""


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("state", EVERY_STATE, ids=lambda state: type(state).__name__)
def test_every_event_in_every_state_does_what_it_means_there_or_nothing(
    state: State, event: on.Event
) -> None:
    before = at(state)
    after, commands = advance(before, event)
    if isinstance(event, on.Abandoned) and not isinstance(state, Ended):
        assert after.state == Ended(Outcome.CANCELLED, "all end", before.document)
        assert commands == (do.Withdraw(),)
    elif isinstance(event, on.Resumed):
        again = replace(state, requested_at=None) if isinstance(state, Waiting) else state
        assert (after.state, commands) == (again, entry(before))
    elif type(event) not in MEANT[type(state)]:
        assert (after, commands) == (before, ())
    assert from_record(to_record(after)) == after


def test_facts_that_cannot_be_renewed_leave_the_document_that_was_agreed() -> None:
    settling = at(Settling(SEALED, 0.0, refreshing=True))
    after, commands = advance(settling, on.DocumentFailed(10.0, "git is gone"))
    assert after.state == Stopping(SEALED)
    assert commands == (do.EndPredecessor(),)


def test_a_tool_that_runs_for_ever_is_interrupted_once_when_the_context_is_nearly_full() -> None:
    waiting = at(Waiting(0.0, requested_at=1.0, tries=1))
    late = replace(WORKING, now=1.0 + AUTO.grace + 1, forced=True)
    assert advance(waiting, replace(late, forced=False)) == (waiting, ())
    after, commands = advance(waiting, late)
    assert commands == (do.Interrupt(),)
    assert advance(after, late)[1] == ()


def test_a_successor_that_says_nothing_is_given_up_unless_it_asks_something() -> None:
    confirming = at(Confirming(SEALED, 1, 200.0))
    asking, _ = advance(confirming, on.Observation(300.0, successor_dialog=True))
    assert asking.state == Confirming(SEALED, 1, 300.0 + AUTO.confirm_within)
    after, commands = advance(confirming, on.Observation(300.0))
    assert after.state == Starting(SEALED, 2)
    assert commands == (do.StartSuccessor(2),)


def test_a_review_that_was_put_off_comes_back() -> None:
    put_off = at(Reviewing(SEALED, snoozed_until=50.0))
    assert advance(put_off, on.Observation(49.0)) == (put_off, ())
    assert advance(put_off, on.Observation(50.0))[0].state == Reviewing(SEALED)


def test_after_an_interruption_a_request_is_given_again_unless_it_arrived() -> None:
    waiting, _ = advance(at(Waiting(0.0, requested_at=1.0, tries=1)), on.Resumed())
    again, commands = advance(waiting, WORKING)
    assert commands == (do.Request(),)
    arrived, _ = advance(waiting, replace(WORKING, delivered=True))
    assert isinstance(arrived.state, Documenting)
    stopping = at(Stopping(SEALED))
    assert advance(stopping, on.Resumed()) == (stopping, (do.EndPredecessor(),))
    assert again.state == Waiting(0.0, again.state.why, WORKING.now, 2, laid=True)  # type: ignore[union-attr]


def test_a_reboot_begins_the_times_of_every_state_anew() -> None:
    for state in EVERY_STATE:
        moved = rebased(at(state), 5.0).state
        assert type(moved) is type(state)
        assert getattr(moved, "since", 5.0) == 5.0
    asked = rebased(at(Waiting(0.0, "why", requested_at=1.0, tries=2)), 5.0).state
    assert asked == Waiting(5.0, "why", tries=2)
    moved = rebased(at(Confirming(SEALED, 2, 9e9)), 5.0).state
    assert moved == Confirming(SEALED, 2, 5.0 + AUTO.confirm_within)


def test_a_plan_without_the_agent_goes_to_its_first_writer_at_once() -> None:
    handoff, commands = advance(at(Waiting(0.0), replace(AUTO, writers=("facts",))), WORKING)
    assert commands == (do.Compose("facts"),)
    assert isinstance(handoff.state, Documenting)


def test_now_interrupts_once_and_waits_for_that_only_so_long() -> None:
    plan = replace(AUTO, now=True)
    cut, commands = advance(at(Waiting(0.0), plan), WORKING)
    assert commands == (do.Interrupt(),)
    waits, commands = advance(cut, WORKING)
    assert commands == ()
    _, commands = advance(waits, replace(WORKING, now=WORKING.now + HURRY + 1))
    assert commands == (do.Compose("sdk"),)


def test_an_agent_that_ended_by_itself_is_followed_without_a_wait() -> None:
    after, commands = advance(at(Settling(SEALED, 0.0)), replace(IDLE, predecessor_alive=False))
    assert after.state == Stopping(SEALED)
    assert commands == (do.EndPredecessor(),)


def test_a_successor_that_ended_before_its_first_reply_is_tried_again() -> None:
    confirming = at(Confirming(SEALED, 1, 200.0))
    after, _ = advance(confirming, replace(IDLE, successor_alive=False))
    assert after.state == Starting(SEALED, 2)
    assert after.successor(2) == SUCCESSORS[1]


def test_an_agent_that_ended_before_it_was_asked_is_written_about() -> None:
    after, commands = advance(at(Waiting(0.0)), replace(IDLE, predecessor_alive=False))
    assert commands == (do.Withdraw(), do.Compose("sdk"))
    assert isinstance(after.state, Documenting)


def test_a_handoff_that_waits_for_others_says_for_whom() -> None:
    after, commands = advance(at(Waiting(0.0)), replace(IDLE, queue="queued behind web"))
    assert after.state == Waiting(0.0, "queued behind web", queued=True)
    assert commands == ()
    after, _ = advance(after, replace(IDLE, git_busy="rebase"))
    assert after.state == Waiting(0.0, "a git operation is in progress: rebase")


def test_a_handoff_that_waits_for_a_long_tool_is_hurried() -> None:
    laid, _ = through(begin(AUTO, 0.0)[0], WORKING)
    assert isinstance(laid.state, Waiting)
    hurried, commands = advance(laid, on.Hurried(11.0))
    assert hurried.plan.now
    assert commands == (do.Withdraw(),)
    cut, commands = advance(hurried, replace(WORKING, now=12.0))
    assert commands == (do.Interrupt(),)
    _, commands = advance(cut, replace(IDLE, now=13.0))
    assert commands == (do.Request(),)


def test_a_hurried_handoff_does_not_wait_for_the_end_of_the_turn_once_it_is_agreed() -> None:
    settling, commands = advance(at(Settling(SEALED, since=0.0)), on.Hurried(1.0))
    assert commands == ()
    _, commands = advance(settling, WORKING)
    assert commands == (do.Interrupt(),)


def test_hurry_skips_no_review_and_nothing_past_the_point_of_no_return() -> None:
    reviewing, _ = advance(at(Reviewing(SEALED)), on.Hurried(1.0))
    assert reviewing.state == Reviewing(SEALED)
    for state in (Stopping(SEALED), Starting(SEALED), Confirming(SEALED, 1, 9.0)):
        assert advance(at(state), on.Hurried(1.0)) == (at(state), ())


def test_why_a_writer_was_passed_over_is_kept() -> None:
    writing = at(Documenting("agent", since=0.0, until=180.0))
    late = replace(IDLE, now=181.0, draft=on.Draft.INVALID, problems=("It is short.",))
    passed, _ = advance(writing, late)
    assert isinstance(passed.state, Documenting)
    assert passed.state.writer == "sdk"
    assert passed.state.passed_over == "agent: no valid document within 180 s (It is short)"
    again, _ = advance(passed, on.DocumentFailed(182.0, "no such session"))
    assert isinstance(again.state, Documenting)
    assert again.state.passed_over == "sdk: no such session"
    assert from_record(to_record(again)) == again


def test_a_request_that_nobody_took_yet_is_withdrawn_with_its_handoff() -> None:
    for event, outcome in (
        (on.Declined(), Outcome.REFUSED),
        (on.CalledOff("the agent is removed"), Outcome.CANCELLED),
    ):
        for state in (Waiting(0.0), Documenting("agent", since=0.0, until=180.0)):
            after, commands = advance(at(state), event)
            assert isinstance(after.state, Ended)
            assert after.state.outcome is outcome
            assert commands == (do.Withdraw(),)


def test_hurrying_a_writer_counts_for_the_swap_that_follows() -> None:
    writing = Documenting("agent", since=0.0, until=180.0)
    after, commands = advance(at(writing), on.Hurried(1.0))
    assert after == replace(at(writing), plan=replace(AUTO, now=True))
    assert commands == ()


def test_a_dialog_that_outlives_the_deadline_brings_a_review() -> None:
    writing = at(Documenting("agent", since=0.0, until=180.0))
    late = replace(IDLE, now=181.0, turn=on.Turn.DIALOG, draft=on.Draft.ABSENT)
    after, _ = advance(writing, late)
    assert after.plan.review
    assert isinstance(after.state, Documenting)
    assert "a question for you is open in the pane" in after.state.passed_over


def test_a_request_that_was_not_laid_yet_is_only_hurried() -> None:
    for plan in (AUTO, replace(AUTO, now=True)):
        after, commands = advance(at(Waiting(0.0), plan), on.Hurried(1.0))
        assert after == at(Waiting(0.0), replace(AUTO, now=True))
        assert commands == ()


def test_an_agent_that_ends_while_it_writes_is_written_about() -> None:
    writing = at(Documenting("agent", since=0.0, until=180.0))
    after, commands = advance(writing, replace(IDLE, predecessor_alive=False))
    assert commands == (do.Withdraw(), do.Compose("sdk"))
    assert isinstance(after.state, Documenting)
    assert after.state.writer == "sdk"


def test_another_cli_can_be_chosen_only_while_the_user_is_asked() -> None:
    plan = replace(AUTO, ask=True)
    chosen, commands = advance(at(Asked(), plan), on.Retargeted("codex", "gpt"))
    assert (chosen.plan.runtime, chosen.plan.model, commands) == ("codex", "gpt", ())
    assert from_record(json.loads(json.dumps(to_record(chosen)))) == chosen
    later = at(Waiting(since=0.0), plan)
    assert advance(later, on.Retargeted("codex", "")) == (later, ())


AWAY = replace(AUTO, move_to="gpu1")
QUIET = replace(IDLE, now=12.0)


def test_a_reply_that_is_recorded_after_the_end_of_its_turn_does_not_cancel_the_move() -> None:
    settling, commands = through(at(Settling(SEALED, 0.0), AWAY), IDLE, replace(IDLE, now=11.0))
    assert isinstance(settling.state, Settling)
    assert commands == ()
    late = replace(IDLE, now=11.5, moved=True)
    refreshed, _ = through(settling, late, replace(QUIET, moved=True))
    assert isinstance(refreshed.state, Settling)
    assert refreshed.state.refreshing
    moving, _ = advance(refreshed, on.DocumentSealed(13.0, SEALED))
    assert moving.state == Moving(SEALED)


def test_an_agent_that_works_again_must_be_quiet_again_before_a_move() -> None:
    settling, _ = through(at(Settling(SEALED, 0.0), AWAY), IDLE, replace(WORKING, now=11.0))
    again, _ = advance(settling, replace(IDLE, now=12.5))
    assert isinstance(again.state, Settling)
    assert not again.state.refreshing
    moving, _ = advance(again, replace(IDLE, now=14.5))
    assert moving.state == Moving(SEALED)


def test_a_job_that_moves_starts_no_session_here_and_ends_the_old_one_only_when_told() -> None:
    moving, commands = through(at(Settling(SEALED, 0.0), AWAY), IDLE, QUIET)
    assert (moving.state, commands) == (Moving(SEALED), ())
    assert entry(moving) == ()
    assert through(moving, IDLE, on.Started(9.0), on.Approved(9.0), on.PredecessorGone()) == (
        moving,
        (),
    )
    ending, commands = advance(moving, on.Moved())
    assert (ending.state, commands) == (Stopping(SEALED), (do.EndPredecessor(),))
    over, commands = advance(ending, on.PredecessorGone())
    assert (over.state, commands) == (Ended(Outcome.MOVED, "moved to gpu1", SEALED), ())
    left, _ = advance(ending, on.PredecessorSurvived("pid 7"))
    assert isinstance(left.state, Ended)
    assert left.state.outcome is Outcome.FAILED
    assert "gpu1" in left.state.why


@pytest.mark.parametrize("before", [Settling(SEALED, 0.0), Settling(SEALED, 0.0, refreshing=True)])
def test_every_way_out_of_settling_leads_to_the_move(before: State) -> None:
    ended = replace(IDLE, predecessor_alive=False)
    for event in (IDLE, ended, on.DocumentSealed(9.0, SEALED), on.DocumentFailed(9.0, "no")):
        after, commands = advance(at(before, AWAY), event)
        assert not isinstance(after.state, Stopping)
        assert do.EndPredecessor() not in commands


def test_work_during_a_move_cancels_it() -> None:
    after, commands = advance(at(Moving(SEALED), AWAY), replace(IDLE, moved=True))
    assert commands == ()
    assert isinstance(after.state, Ended)
    assert after.state.outcome is Outcome.CANCELLED
    assert "while its job was being moved" in after.state.why


def test_a_plan_of_a_release_without_moves_is_read() -> None:
    record = to_record(at(Settling(SEALED, 0.0)))
    del record["plan"]["move_to"]
    assert from_record(record) == at(Settling(SEALED, 0.0))

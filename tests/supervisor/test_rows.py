"""A seat as a row: which state wins, what the pilot has to do, and what counts as done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents import runtime
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Document,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reviewing,
    State,
    Stopping,
    Waiting,
)
from cockpit.core.ids import AgentName, JobId, PaneId, SessionId
from cockpit.core.moments import DialogOpened, PromptTaken, SessionBegan, TurnBroken, TurnOver
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import JobRecord, SeatRecord
from cockpit.supervisor.needs import need
from cockpit.supervisor.notes import note
from cockpit.supervisor.rows import marker_said, state
from cockpit.supervisor.seat import Exit, Seat

SEALED = Document("/w/handoff.md", "ab" * 32, "agent")
PLAN = Plan("threshold", ask=True, review=True, successors=())


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    """Somebody who works in a pane, with a prompt that was taken and answered."""
    name = AgentName("api")
    settings = AgentSettings.model_validate({"name": "api", "directory": str(tmp_path)})
    record = SeatRecord(
        name, {}, None, True, str(tmp_path), session=SessionId("s"), pane=PaneId("%1")
    )
    one = Seat(record, settings, runtime("claude", tmp_path))
    one.process = ProcessId(os.getpid(), 1, "boot")
    one.job = JobRecord(JobId("j"), name, "Count.", 0.0)
    one.sitting.replied = True
    one.sitting.conduct.hear(SessionBegan("s", "startup"), 1.0)
    one.sitting.conduct.hear(PromptTaken("Count."), 2.0)
    return one


def told(seat: Seat, now: float = 100.0) -> tuple[str, str | None]:
    """The state of the row, and the kind of its need."""
    wanted = need(seat, now)
    return state(seat, wanted), wanted.kind if wanted else None


def standing(seat: Seat, at: State) -> None:
    seat.handoff = Handoff(PLAN, at)


def test_what_the_agent_does_is_its_state(seat: Seat) -> None:
    conduct = seat.sitting.conduct
    assert told(seat) == ("working", None)
    conduct.hear(TurnOver("What next?"), 3.0)
    assert told(seat) == ("idle", None)
    conduct.hear(TurnOver("All in.\n\nHANDOFF: COMPLETE"), 4.0)
    assert told(seat) == ("done", None)
    conduct.hear(PromptTaken("more"), 5.0)
    assert told(seat) == ("working", None)
    conduct.turn = Turn.UNKNOWN
    assert told(seat) == ("unknown", None)


def test_it_is_starting_until_the_first_prompt_is_accepted(seat: Seat) -> None:
    seat.begin_sitting(None)
    seat.sitting.began_at = 1.0
    assert told(seat) == ("starting", None)
    seat.sitting.conduct.hear(SessionBegan("s", "startup"), 1.0)
    assert told(seat) == ("starting", None)
    seat.sitting.conduct.hear(PromptTaken("Count."), 2.0)
    assert told(seat) == ("working", None)
    seat.begin_sitting(None)
    seat.job = None
    seat.sitting.conduct.hear(SessionBegan("s", "startup"), 1.0)
    assert told(seat) == ("idle", None)


def test_who_was_found_without_a_record_is_not_said_to_be_starting(seat: Seat) -> None:
    seat.begin_sitting(None)
    assert told(seat) == ("unknown", None)
    assert note(seat) == "it was found again without a record: what it did before is not known"
    seat.sitting.conduct.noted(Turn.IDLE, None, 20.0)
    assert told(seat) == ("idle", None)
    seat.sitting.conduct.hear(PromptTaken("more"), 21.0)
    assert (told(seat), note(seat)) == (("working", None), None)


def test_nobody_there_is_exited_or_stopped_as_the_pilot_wanted_it(seat: Seat) -> None:
    seat.exit = Exit(1.0, 0)
    assert told(seat) == ("exited", None)
    seat.change(wanted=False)
    assert told(seat) == ("stopped", None)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (Asked(), ("needs_you", "handoff")),
        (Asked(snoozed_until=99.0), ("needs_you", "handoff")),
        (Asked(snoozed_until=101.0), ("handing_off", None)),
        (Waiting(since=0.0), ("handing_off", None)),
        (Reviewing(SEALED), ("needs_you", "review")),
        (Reviewing(SEALED, snoozed_until=101.0), ("handing_off", None)),
        (Stopping(SEALED), ("handing_off", None)),
        (Confirming(SEALED, 1, 200.0), ("handing_off", None)),
        (Ended(Outcome.DONE), ("working", None)),
    ],
)
def test_a_handoff_goes_before_what_the_agent_does(
    seat: Seat, at: State, expected: tuple[str, str | None]
) -> None:
    standing(seat, at)
    assert told(seat) == expected


def test_needing_the_pilot_goes_before_everything(seat: Seat) -> None:
    standing(seat, Waiting(since=0.0))
    seat.sitting.conduct.hear(DialogOpened("permission", "Bash rm\x1b[2J"), 3.0)
    assert told(seat) == ("needs_you", "permission")
    wanted = need(seat, 100.0)
    assert wanted is not None
    assert wanted.detail.isprintable()


def test_a_permission_says_which_tool_wants_to_do_what_and_since_when(seat: Seat) -> None:
    asked = DialogOpened("permission", "Bash make \\", "Bash\x1b[2J", "make \\\n  all\x1b[31m\x07")
    seat.sitting.conduct.hear(asked, 3.0)
    wanted = need(seat, 100.0)
    assert wanted is not None
    assert (wanted.tool, wanted.command) == ("Bash", "make \\\n  all")
    assert wanted.since == "1970-01-01T00:00:03Z"


def test_a_usage_limit_says_when_it_begins_anew(seat: Seat) -> None:
    seat.sitting.conduct.hear(TurnBroken("rate_limit", "Limit reached", 3600.0), 3.0)
    wanted = need(seat, 100.0)
    assert wanted is not None
    assert (wanted.kind, wanted.resets_at) == ("usage_limit", "1970-01-01T01:00:00Z")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"handoff_failed": "it failed"}, "failed"),
        ({"trust_asked": "it asks for trust"}, "trust"),
    ],
)
def test_what_only_the_pilot_can_mend(seat: Seat, change: dict[str, Any], kind: str) -> None:
    for name, value in change.items():
        setattr(seat, name, value)
    assert told(seat) == ("needs_you", kind)


def test_an_agent_that_nobody_starts_again_needs_the_pilot(seat: Seat) -> None:
    seat.change(gave_up="it will not start")
    assert told(seat) == ("needs_you", "failed")


def test_what_an_earlier_supervisor_wrote_of_an_end_is_one_sentence(seat: Seat) -> None:
    seat.exit = Exit(5.0, told="ended with 1.")
    seat.sitting.replied = False
    assert note(seat) == "ended with 1."


def test_the_accounts_limit_needs_the_pilot_until_the_next_prompt(seat: Seat) -> None:
    seat.sitting.conduct.hear(TurnBroken("rate_limit", "resets at 5"), 3.0)
    assert told(seat)[1] == "usage_limit"
    seat.sitting.conduct.hear(PromptTaken("again"), 4.0)
    assert told(seat) == ("working", None)


@pytest.mark.parametrize("error", ["overloaded", "server_error", "unknown"])
def test_a_turn_that_the_api_broke_off_needs_the_pilot_until_the_next_prompt(
    seat: Seat, error: str
) -> None:
    seat.sitting.conduct.hear(TurnBroken(error, "Overloaded\x1b[2J."), 3.0)
    assert told(seat) == ("needs_you", "failed")
    wanted = need(seat, 100.0)
    assert wanted is not None
    assert wanted.detail.startswith("the API failed: Overloaded")
    assert wanted.detail.endswith("send it a prompt to go on")
    assert wanted.detail.isprintable()
    seat.sitting.conduct.hear(PromptTaken("again"), 4.0)
    assert told(seat) == ("working", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("HANDOFF: COMPLETE", True),
        ("All in.\n\n**HANDOFF: COMPLETE**\n", True),
        ("Everything is in. HANDOFF: COMPLETE", True),
        ("I say `HANDOFF: COMPLETE` when I am done, not before.", False),
        ("", False),
    ],
)
def test_the_marker_counts_at_the_edge_of_a_line(words: str, said: bool) -> None:
    assert marker_said(words, "HANDOFF: COMPLETE") is said
    assert not marker_said(words, "")

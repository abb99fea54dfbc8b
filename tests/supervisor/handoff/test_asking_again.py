"""When a session's next handoff begins after one that came to nothing, and what the row says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.config.this_user import this_user
from cockpit.core.handoff.details import HandoffDetails, Leaving
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.latches import UNDONE
from cockpit.supervisor.handoff.policy import Due
from tests.supervisor.observe.test_clock_jumps import DUE, Watched

LOOP = Due("loop", "loop", "iteration 1 of at most 20 is over")


@pytest.fixture
def watched(own_home: Path) -> Iterator[Watched]:
    one = Watched(own_home / "ck")
    yield one
    one.store.close()


async def ended(
    watched: Watched, outcome: str, tokens: int, by: str = "", *, forced: bool = False
) -> None:
    """A handoff of the session ended 5 s ago, at this number of tokens."""
    watched.hook("UserPromptSubmit", prompt="Count.")
    await watched.replies(tokens)
    left = Leaving(tokens=tokens, forced=forced, at=watched.clock.monotonic())
    record = HandoffRecord(
        HandoffId("h"), AgentName("api"), JobId("j"), SessionId("s"), "threshold",
        watched.wall(), watched.clock.boot(), {},
        HandoffDetails(closed=watched.clock.steady(), answered_by=by, left=left),
        ended=watched.wall(), outcome=outcome, why="whatever was stored",
    )  # fmt: skip
    watched.store.save_handoff(record)
    watched.clock.advance(5)


def waits(watched: Watched, due: Due = DUE) -> str | None:
    return watched.guards.reason_to_wait(watched.agent, due)


@pytest.mark.parametrize(
    ("by", "who"), [("", "you"), (this_user(), "you"), ("ana@laptop", "ana@laptop")]
)
async def test_the_row_says_who_refused_and_when_the_question_comes_again(
    watched: Watched, by: str, who: str
) -> None:
    await ended(watched, "refused", 149_000, by)
    assert waits(watched) == f"{who} refused the handoff; asking again at 160k tokens"
    await watched.replies(159_999)
    assert waits(watched) == f"{who} refused the handoff; asking again at 160k tokens"
    # As promised, although the cooldown is not over.
    await watched.replies(160_000)
    assert waits(watched) is None


async def test_a_question_that_was_refused_in_the_force_band_comes_after_the_compaction(
    watched: Watched,
) -> None:
    await ended(watched, "refused", 161_000, forced=True)
    assert watched.agent.compacts_at == 167_000
    assert waits(watched) == (
        "you refused the handoff; not asking again before the CLI compacts at 167k tokens"
    )
    await watched.replies(167_000)  # the CLI did not compact
    assert waits(watched) is None


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("prompt", "the last handoff did not complete; asking again at 160k tokens"),
        ("auto", "the last handoff did not complete; trying again at 160k tokens"),
    ],
)
@pytest.mark.parametrize("outcome", ["cancelled", "revived"])
async def test_a_handoff_that_failed_is_tried_again_after_the_cooldown(
    watched: Watched, outcome: str, mode: str, text: str
) -> None:
    watched.agent.settings = watched.agent.settings.model_copy(update={"mode": mode})
    await ended(watched, outcome, 149_000)
    assert waits(watched) == text
    await watched.replies(160_000)
    assert waits(watched) == "the last handoff ended less than 60 s ago"
    watched.clock.advance(60)
    assert waits(watched) is None


async def test_after_an_undo_no_handoff_is_said_to_have_failed(watched: Watched) -> None:
    watched.agent.settings = watched.agent.settings.model_copy(update={"mode": "auto"})
    await ended(watched, "done", 149_000)
    watched.store.latch(SessionId("s"), UNDONE, watched.wall())
    watched.clock.advance(60)
    assert waits(watched) == "asking again at 160k tokens"


async def test_a_loop_goes_on_after_the_next_turn(watched: Watched) -> None:
    watched.agent.settings = watched.agent.settings.model_copy(update={"mode": "auto"})
    await ended(watched, "refused", 149_000)
    assert waits(watched, LOOP) == "the last handoff ended less than 60 s ago"
    watched.clock.advance(60)
    assert waits(watched, LOOP) == "you refused the handoff; trying again after the next turn"
    watched.hook("Stop")
    assert waits(watched, LOOP) is None

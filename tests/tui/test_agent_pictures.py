"""How one agent's screen looks; see `test_pictures.py` for which sizes and themes, and why.

The context has every size: its plot is drawn in as many cells as there are.
"""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from cockpit.wire.course import Course
from cockpit.wire.status import AgentStatus, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import PANE, agent, context
from tests.tui.scene_history import chain, handoff, session
from tests.tui.scene_sessions import BEGAN, DIFF, FACTS, course, readings, stretch
from tests.tui.test_hostile import HOSTILE
from tests.tui.test_pictures import (
    LARGE,
    SMALL,
    USUAL,
    Compare,
    app,
    at_rest,
    one_time_zone,
    pressing,
    settled,
)

__all__ = ["one_time_zone"]

SECTIONS = {"pane": "1", "context": "2", "facts": "3", "diff": "4", "events": "5"}
PICTURED = {
    **{f"{name}-100x30": (key, USUAL) for name, key in SECTIONS.items()},
    "pane-60x15": ("1", SMALL),
    "context-60x15": ("2", SMALL),
    "context-200x60": ("2", LARGE),
}


def one(**fields: Any) -> AgentStatus:
    """An agent in its second session, with nothing that names the time of day."""
    usual = {"session_id": session(2).id, "session_number": 2, "job": "job-api",
             "chain_cost_usd": 1.12, "cost_usd": 0.62, "activity": "Edit src/auth.py"}  # fmt: skip
    return agent("api", **{**usual, **fields})


def flown(tokens: int | None = 61_000, **fields: Any) -> MemoryClient:
    """That agent alone, with everything that can be read of it."""
    client = MemoryClient(Status(agents=[one(context=context(tokens), **fields)]))
    client.show("api", PANE, cursor=(2, 13))
    told = course()
    last = stretch(2, readings(tokens or 50_000, 64, start=45_000, began=BEGAN + 9_000))
    known = last.model_copy(update={} if tokens else {"points": [], "unknown": "No token count."})
    client.chart(told.model_copy(update={"stretches": [told.stretches[0], known]}))
    left = handoff("h1", "2026-11-22T02:40:00Z", tokens_after=45_000)
    times = {"started_at": "2026-11-22T01:00:00Z", "ended_at": "2026-11-22T02:41:00Z"}
    first = session(1, left, writer="agent", outcome="done", compactions=1, **times)
    client.remember([chain("api", first, session(2))])
    client.know("api", FACTS)
    client.differ("api", DIFF)
    client.happen("agent.started", "api was started", "api", at="2026-11-21T20:15:00Z")
    client.happen("band.crossed", "api crossed its act point", "api", at="2026-11-21T20:17:00Z")
    return client


@pytest.mark.parametrize(("key", "size"), PICTURED.values(), ids=PICTURED)
def test_section(snap_compare: Compare, key: str, size: tuple[int, int]) -> None:
    """Each section; the context is in the act band here."""
    shown = app(flown(142_300))
    assert snap_compare(shown, terminal_size=size, run_before=pressing("o", key))


@pytest.mark.parametrize("tokens", [61_000, None], ids=["calm", "unknown"])
def test_band(snap_compare: Compare, tokens: int | None) -> None:
    """A plot far below its marks, and none; `present/test_plot.py` has every band."""
    shown = app(flown(tokens))
    assert snap_compare(shown, terminal_size=USUAL, run_before=pressing("o", "2"))


def nine() -> MemoryClient:
    """An agent in its ninth session."""
    client = flown(session_id=session(9).id, session_number=9)
    chart = [stretch(each, readings(120_000 + 4_000 * each, 50)) for each in range(1, 10)]
    client.chart(Course(agent="api", stretches=chart))
    links = [
        session(each, handoff(f"h{each}", "2026-11-22T02:40:00Z", tokens_after=40_000))
        for each in range(1, 9)
    ]
    client.remember([chain("api", *links, session(9))])
    return client


@pytest.mark.parametrize("size", [SMALL, USUAL], ids=["60x15", "100x30"])
def test_a_chain_of_nine(snap_compare: Compare, size: tuple[int, int]) -> None:
    """More sessions than the plot and the list beside it have room for."""
    assert snap_compare(app(nine()), terminal_size=size, run_before=pressing("o", "2"))


def single() -> MemoryClient:
    """An agent in its first session."""
    client = flown(session_id=session(1).id, session_number=1)
    client.chart(Course(agent="api", stretches=[stretch(1, readings(61_000, 30))]))
    client.remember([chain("api", session(1))])
    return client


def test_a_chain_of_one(snap_compare: Compare) -> None:
    """One session takes the whole width."""
    assert snap_compare(app(single()), terminal_size=USUAL, run_before=pressing("o", "2"))


def hostile_agent() -> MemoryClient:
    """Every section of hostile words."""
    text = "[/b] \x1b]52;c;eA==\x07漢字 \u202eevil\u2069 [@click=app.quit]x[/] 👩‍👩‍👧"
    client = flown(142_300, note=text, branch=text, model=text, activity=text)
    client.show("api", [text, f"\x1b[41m{text}", "\x1b[2Jcleared?"])
    client.know("api", {**FACTS, "goal": " ".join(HOSTILE)[:900], "files_modified": [text]})
    part = f"diff --git a/x b/x\n@@ -1 +1 @@\n-{text}\n+{text}\n"
    client.differ("api", DIFF.model_copy(update={"text": part, "untracked": [text]}))
    client.happen(text, text, "api", at="2026-11-21T20:17:00Z")
    return client


def test_no_supervisor(snap_compare: Compare) -> None:
    """The plot of before, greyed."""
    client = flown(142_300)

    async def lose(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("o", "2")
        await at_rest(pilot)
        client.disconnect()
        await at_rest(pilot)

    assert snap_compare(app(client), terminal_size=USUAL, run_before=lose)


def test_theme(snap_compare: Compare) -> None:
    """The plot on a light ground."""
    shown = app(flown(142_300), "day")
    assert snap_compare(shown, terminal_size=USUAL, run_before=pressing("o", "2"))


def test_help(snap_compare: Compare) -> None:
    """The keys of this screen."""
    shown = app(flown())
    assert snap_compare(shown, terminal_size=USUAL, run_before=pressing("o", "question_mark"))

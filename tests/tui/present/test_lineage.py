"""The chain as lines: what each session held, what it left, and what became of it."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from cockpit.tui.present.lineage import chain_of, duration, link_spans, links
from cockpit.tui.present.span import plain
from cockpit.wire.history import HistoryChain, HistorySession
from tests.tui.scene import agent


def session(number: int, **fields: Any) -> HistorySession:
    usual = {
        "id": f"s{number}", "number": number, "state": "handed_off", "handoff": f"h{number}",
        "writer": "agent", "outcome": "done", "cost_usd": 1.2, "tokens": 162_000,
        "tokens_at_start": 45_000, "compactions": 0,
        "started_at": "2026-11-21T20:00:00Z", "ended_at": "2026-11-21T21:12:30Z",
    }  # fmt: skip
    return HistorySession.model_validate({**usual, **fields})


LIVE = session(2, state="live", handoff=None, writer=None, outcome=None, ended_at=None, tokens=1)


def said(sessions: list[HistorySession], width: int = 90, **row: Any) -> list[str]:
    every = links(sessions, agent("api", session_id="s2", **row))
    lines = [plain(link_spans(link, every, width)) for link in every]
    assert {cell_len(line) for line in lines} <= {width}
    return [" ".join(line.split()) for line in lines]


def test_a_link_says_what_was_held_what_is_left_and_what_it_took() -> None:
    first, second = said([session(1), LIVE], tokens=61_000, cost_usd=0.3)
    assert first == "#1 162k → 45k agent wrote it $1.20 1h12 completed"
    assert second == "#2 61k $0.30 now"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": "undone"}, "undone"),
        ({"state": "ended", "outcome": "failed"}, "ended, handoff failed"),
        ({"compactions": 2}, "completed, 2 compactions"),
        ({"writer": "facts"}, "from facts"),
        ({"tokens": None}, "– → 45k"),
        ({"cost_usd": None}, "–"),
        ({"state": "\x1b[2Jwild"}, "wild"),
        ({"started_at": "no time"}, "completed"),
    ],
)
def test_what_is_said_is_what_is_known(fields: dict[str, Any], words: str) -> None:
    (line, _) = said([session(1, **fields), LIVE])
    assert words in line
    assert "\x1b" not in line


def test_narrow_lines_keep_number_tokens_and_outcome() -> None:
    (line, _) = said([session(1), LIVE], width=34)
    assert line.startswith("#1 162k → 45k")
    assert line.endswith("completed")


def test_a_chain_is_that_of_the_agents_job() -> None:
    history = [
        HistoryChain(agent="api", job="old", sessions=[session(1)]),
        HistoryChain(agent="api", job="new"),
    ]
    assert chain_of(history, agent("api", job="old")) == [session(1)]
    assert chain_of(history, agent("api", job="none")) == []
    assert chain_of(history, None) == []
    assert links([], None) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (3_599, "59m"), (4_320, "1h12"), (273_600, "3d4h")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words

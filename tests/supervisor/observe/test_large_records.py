"""An agent writes enormous lines into its own record: nobody waits, and no old figure is drawn."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.adapters.transcripts.lines import LONGEST_LINE, MOST_VALUES
from cockpit.adapters.transcripts.tail import POLL_BYTES, Tail
from cockpit.core.bands import Band
from cockpit.supervisor.view.notes import note
from tests.supervisor.observe.test_clock_jumps import Watched

TOO_LARGE = "1 line of the transcript was too large to read"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    found = Watched(tmp_path)
    yield found
    found.parts.store.close()


def append(watched: Watched, line: bytes) -> None:
    with watched.record.open("ab") as file:
        file.write(line + b"\n")


async def read(watched: Watched) -> None:
    assert await watched.watch.transcripts.read_to_end(watched.agent, 60.0)


def hostile(values: int, kind: str = "assistant") -> bytes:
    begin = f'{{"type":"{kind}","message":{{"model":"m","usage":{{"input_tokens":5}},"content":['
    return begin.encode() + b"{}," * values + b"{}]}}"


@pytest.mark.parametrize("values", [MOST_VALUES, LONGEST_LINE // 3])
async def test_a_reply_that_is_too_large_makes_the_reading_unknown(
    watched: Watched, values: int
) -> None:
    await watched.replies(50_000)
    append(watched, hostile(values))
    await read(watched)
    session_state = watched.agent.session_state
    assert session_state.gauge.tokens is session_state.reading.meter.tokens is None
    assert watched.agent.band is Band.UNKNOWN
    assert f"{TOO_LARGE}, possibly a reply" in str(note(watched.agent))
    await watched.replies(60_000)
    await read(watched)
    assert session_state.gauge.tokens == 60_000
    assert f"{TOO_LARGE};" in str(note(watched.agent))


async def test_a_result_that_is_too_large_leaves_the_reading(watched: Watched) -> None:
    await watched.replies(50_000)
    append(watched, hostile(MOST_VALUES, "user"))
    await read(watched)
    assert watched.agent.session_state.gauge.tokens == 50_000
    assert watched.agent.session_state.reading.skipped == 1


async def test_a_long_record_gives_no_figure_before_its_end(watched: Watched) -> None:
    await watched.replies(90_000)
    filler = json.dumps({"type": "user", "message": {"content": "x" * POLL_BYTES}}).encode()
    append(watched, filler)
    append(watched, filler)
    await watched.replies(20_000)
    watched.agent.begin_session(Tail(watched.record, watched.agent.runtime.parse))
    drawn: list[int | None] = []
    while await watched.watch.transcripts.read_once(watched.agent):
        drawn.append(watched.agent.session_state.gauge.tokens)
    assert set(drawn[:-1]) == {None}
    assert watched.agent.session_state.gauge.tokens == 20_000


async def test_no_line_is_parsed_on_the_loop(watched: Watched) -> None:
    threads: set[int] = set()

    def parse(line: bytes) -> object:
        threads.add(threading.get_ident())
        return watched.agent.runtime.parse(line)

    watched.agent.begin_session(Tail(watched.record, parse))  # type: ignore[arg-type]
    await watched.replies(50_000)
    assert watched.agent.session_state.gauge.tokens == 50_000
    assert threading.get_ident() not in threads

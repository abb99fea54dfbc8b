"""What reporters leave is told in order, once, whatever stands in it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.hooks.spool import (
    AT_ONCE,
    REPORT_BYTES,
    STATUS_LINE,
    Spool,
    parse_report,
    salvage_fields,
)
from cockpit.core.ids import AgentName

REPORTER = Path(__file__).parents[2] / "cockpit" / "reporter.sh"
API = AgentName("api")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "spool")
    spool.prepare(API)
    return spool


def leave(spool: Spool, name: str, content: bytes, at: float) -> Path:
    path = spool.folder / "api" / name
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def test_reports_come_in_the_order_of_writing_and_only_once(spool: Spool) -> None:
    leave(spool, "9-PostToolUse.json", b'{"n":1}', 100.0)
    leave(spool, "10-Stop.verdict.json", b'{"n":2}', 100.0)
    leave(spool, "2-SessionEnd.json", b'{"n":3}', 100.5)
    taken = spool.take()
    assert [signal.payload["n"] for signal in taken] == [1, 2, 3]
    assert [signal.event for signal in taken] == ["PostToolUse", "Stop", "SessionEnd"]
    assert [signal.verdict for signal in taken] == [False, True, False]
    assert [signal.at for signal in taken] == [100.0, 100.0, 100.5]
    assert spool.take() == []


def test_the_status_line_is_told_when_it_changed_and_stays(spool: Spool) -> None:
    leave(spool, "status", b'{"model":{"id":"m"}}', 100.0)
    assert [signal.event for signal in spool.take()] == [STATUS_LINE]
    assert spool.take() == []
    latest = spool.latest_status(API)
    assert latest is not None
    assert latest.payload == {"model": {"id": "m"}}
    leave(spool, "status", b'{"model":{"id":"n"}}', 101.0)
    assert [signal.payload["model"]["id"] for signal in spool.take()] == ["n"]


def test_a_spool_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "nowhere")
    assert spool.take() == []
    assert spool.latest_status(API) is None


def test_a_cut_report_is_read_as_far_as_it_goes(spool: Spool) -> None:
    whole = {"session_id": "s", "n": {"a": [1, "}"]}, "tool_response": "x" * REPORT_BYTES}
    leave(spool, "1-PostToolUse.json", json.dumps(whole).encode()[:REPORT_BYTES], 1.0)
    (signal,) = spool.take()
    assert signal.payload == {"session_id": "s", "n": {"a": [1, "}"]}}


def test_what_nobody_understands_is_put_aside_and_bounded(spool: Spool) -> None:
    for number in range(30):
        leave(spool, f"{number}-Stop.json", b"\0not json", float(number))
    assert spool.take() == []
    assert len(list((spool.folder / ".bad").iterdir())) == 20
    assert list((spool.folder / "api").iterdir()) == []


def test_nothing_but_reports_is_read(spool: Spool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"key":"k"}')
    folder = spool.folder / "api"
    (folder / "1-Stop.json").symlink_to(secret)
    os.mkfifo(folder / "2-Stop.json")
    (folder / "notes.txt").write_text("{}")
    (spool.folder / "NoAgent").mkdir()
    (spool.folder / "NoAgent" / "3-Stop.json").write_text("{}")
    assert spool.take() == []
    assert secret.exists()


def test_what_killed_reporters_left_is_cleared_after_a_while(spool: Spool) -> None:
    old = leave(spool, ".Stop.12", b"{", time.time() - 3600)
    new = leave(spool, ".Stop.13", b"{", time.time())
    spool.take()
    assert (old.exists(), new.exists()) == (False, True)


async def test_a_flood_is_taken_in_pieces_and_asks_to_be_called_again(spool: Spool) -> None:
    called: list[None] = []
    forget = spool.on_change(lambda: called.append(None))
    try:
        for number in range(AT_ONCE + 20):
            leave(spool, f"{number}-Stop.json", b"{}", float(number))
        assert len(spool.take()) == AT_ONCE
        assert called
        assert len(spool.take()) == 20
    finally:
        forget()


def test_files_that_no_reporter_names_so_take_no_room(spool: Spool) -> None:
    for number in range(300):
        leave(spool, f"f{number}.json", b"{}", 1.0)
    (spool.folder / "api" / "folder.json").mkdir()
    leave(spool, "no-report", b"", 1.0)
    assert spool.take() == []
    assert list((spool.folder / "api").iterdir()) == []


@given(st.binary(max_size=200))
def test_no_content_raises(content: bytes) -> None:
    parse_report(content)


@given(
    st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8) | st.none()),
    st.integers(min_value=0, max_value=400),
)
def test_what_is_salvaged_is_true(whole: dict[str, object], cut: int) -> None:
    found = salvage_fields(json.dumps(whole)[:cut])
    assert found.items() <= whole.items()


def test_deep_nesting_is_no_danger() -> None:
    assert parse_report(b'{"a":1,"b":' + b"[" * 100_000) == {"a": 1}


def test_what_can_be_read_can_be_written() -> None:
    for depth in (50, 900, 985, 100_000):
        nested = '{"a":' * depth + "[1]" + "}" * depth
        report = f'{{"tool_name":"x","tool_input":{nested},"cwd":"/x"}}'.encode()
        found = parse_report(report)
        assert found is not None
        assert found["tool_name"] == "x"
        json.dumps(found)
        assert (json.loads(report) == found) is (depth == 50) if depth < 900 else True


async def test_a_real_reporter_is_heard_at_once(spool: Spool) -> None:
    """The whole way from a hook to the loop, first report of a new agent included."""
    state = spool.folder.parent
    heard: list[str] = []
    stop = spool.on_change(lambda: heard.extend(s.event for s in spool.take()))
    try:
        for agent, event in (("api", "Stop"), ("web", "SessionEnd"), ("api", "StatusLine")):
            spool.prepare(AgentName(agent))
            before = len(heard)
            await asyncio.to_thread(report, state, agent, event)
            async with asyncio.timeout(120):
                while len(heard) == before:
                    await asyncio.sleep(0.005)
    finally:
        stop()
    assert heard == ["Stop", "SessionEnd", "StatusLine"]


def report(state: Path, agent: str, event: str) -> None:
    subprocess.run(
        [REPORTER, str(state), agent, event], input=b"{}", check=True, stdout=subprocess.DEVNULL
    )

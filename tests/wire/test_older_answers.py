"""What older supervisors answered, as they wrote it, is read by the newest client.

Everything here is literal: it must not change along with the models.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cockpit.client.http import HttpClient
from cockpit.core.errors import Failed
from cockpit.wire.history import to_json
from cockpit.wire.status import ContextStatus, Needs
from cockpit.wire.stream import AgentChanged, AgentForgotten, Happened, Snapshot, WatchLine
from cockpit.wire.verbs import Stop

ROW = """\
{"name": "api", "runtime": "claude", "job": "5b0c2a9e-6d3f-4f1a-9b1e-000000000001",
 "state": "needs_you", "needs": {"kind": "review", "detail": "Read the document."},
 "pane": "%3", "pid": 812, "directory": "/w", "branch": "agent/api/lin-42", "worktree": "/w",
 "session_id": "5b0c2a9e-6d3f-4f1a-9b1e-000000000002", "session_number": 2,
 "previous_session_id": "5b0c2a9e-6d3f-4f1a-9b1e-000000000003", "transcript": "/t.jsonl",
 "model": "claude-sonnet-5-5",
 "context": {"tokens": 142000, "window": 200000, "used": 0.71, "band": "act",
  "confidence": "reported", "source": "statusline", "age_seconds": 1.4, "compacts_at": 167000,
  "tokens_per_turn": 2100, "turns_left": 6},
 "mode": "auto", "strategy": "handoff",
 "handoff": {"id": "5b0c2a9e-6d3f-4f1a-9b1e-000000000004", "reason": "threshold",
  "phase": "review", "since": "2026-11-21T20:15:00Z"},
 "handoffs": 1, "max_handoffs": 3, "compactions": 0, "cost_usd": 0.12, "chain_cost_usd": 0.53,
 "activity": "Edit src/auth.py", "last_activity_at": "2026-11-21T20:15:00Z"}"""
LINE = ROW.replace("\n", "")
"""A row of the first version: no marks, no trend, no background tasks, no note."""
SUPERVISOR = '{"pid": 71, "started_at": "2026-11-21T20:15:00Z"}'
STATUS = f'{{"version": 1, "host": "local", "supervisor": {SUPERVISOR}, "agents": [{LINE}]}}'
EVENT = '{"id": 7, "at": "2026-11-21T20:15:00Z", "kind": "agent.started", "text": "api began"}'
CHAINS: list[dict[str, Any]] = json.loads("""\
[{"agent": "api", "job": "j-1", "sessions": [
  {"id": "s-1", "number": 1, "state": "handed_off", "document": "/d.md", "cost_usd": 0.41},
  {"id": "s-2", "number": 2, "state": "live", "document": null, "cost_usd": null}]}]""")


@pytest.fixture
def client(answering: Any) -> HttpClient:
    return HttpClient(answering.path)


async def test_a_status(client: HttpClient, answering: Any) -> None:
    answering.say("GET /v1/status", STATUS.encode())
    status = await client.status()
    (row,) = status.agents
    assert (status.supervisor.pid, status.supervisor.version, status.held) == (71, None, [])
    assert (row.name, row.state, row.session_number) == ("api", "needs_you", 2)
    assert row.needs == Needs(kind="review", detail="Read the document.")
    assert row.context == ContextStatus(
        tokens=142_000, window=200_000, used=0.71, band="act", confidence="reported",
        source="statusline", age_seconds=1.4, compacts_at=167_000, tokens_per_turn=2100,
        turns_left=6,
    )  # fmt: skip
    assert (row.context.marks.act, row.context.trend, row.background) == (None, [], [])
    assert row.handoff is not None
    assert (row.handoff.phase, row.handoff.document) == ("review", None)


@pytest.mark.parametrize("absent", ["needs", "handoff", "pane", "session_number", "cost_usd"])
async def test_a_row_with_nothing_to_say_of_a_field(
    client: HttpClient, answering: Any, absent: str
) -> None:
    row = json.loads(ROW) | {absent: None}
    answering.say("GET /v1/status", {"version": 1, "agents": [row]})
    (read,) = (await client.status()).agents
    assert getattr(read, absent) is None


async def test_a_stream(client: HttpClient, answering: Any) -> None:
    lines = (
        f'{{"type": "snapshot", "status": {STATUS}}}',
        f'{{"type": "agent", "agent": {LINE}}}',
        '{"type": "weather", "sky": "blue"}',
        f'{{"type": "event", "event": {EVENT}}}',
        '{"type": "forgotten", "name": "api"}',
    )
    answering.say("GET /v1/watch", *(f"{line}\n".encode() for line in lines))
    found: list[WatchLine] = []
    stream = client.watch()
    async for line in stream:
        found.append(line)
        if isinstance(line, AgentForgotten):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    assert [type(line) for line in found] == [Snapshot, AgentChanged, Happened, AgentForgotten]


async def test_events_without_an_agent_or_data(client: HttpClient, answering: Any) -> None:
    answering.say("GET /v1/events?after=0&limit=200", f"{EVENT}\n\n".encode())
    (event,) = await client.events()
    assert (event.id, event.agent, event.data) == (7, None, {})


async def test_a_history_without_pages(client: HttpClient, answering: Any) -> None:
    for query in ("limit=100", "handoffs=5"):
        answering.say(f"GET /v1/history?{query}", CHAINS)
    chains = await client.history()
    assert [to_json(chain) for chain in chains] == CHAINS
    page = await client.history_page(5)
    assert (page.chains, page.next, page.total) == (chains, None, 0)


async def test_a_course_of_points_without_a_kind_or_a_time(
    client: HttpClient, answering: Any
) -> None:
    stretch = '{"session": "s", "number": 1, "state": "live", "points": [[1, 9000], [2, 9500]]}'
    answering.say("GET /v1/course/api", f'{{"agent": "api", "stretches": [{stretch}]}}'.encode())
    (read,) = (await client.course("api")).stretches
    assert [(point.call, point.tokens, point.kind) for point in read.points] == [
        (1, 9000, "reply"),
        (2, 9500, "reply"),
    ]


async def test_a_diff_and_worktrees_with_the_least(client: HttpClient, answering: Any) -> None:
    answering.say("GET /v1/diff/api", b'{"directory": "/w", "text": "+one\\n"}')
    answering.say("GET /v1/worktrees", b'[{"directory": "/w", "repository": "/r", "made": true}]')
    diff = await client.diff("api")
    assert (diff.text, diff.files, diff.since, diff.unknown) == ("+one\n", [], None, None)
    (tree,) = await client.worktrees()
    assert (tree.directory, tree.missing, tree.changed, tree.obstacles) == ("/w", False, None, [])
    asked = "GET /v1/worktrees?directory=%2Fw&sizes=1"
    answering.say(asked, b'[{"directory": "/w", "repository": "/r", "made": true}]')
    (tree,) = await client.worktrees("/w", sizes=True)
    assert (tree.size, tree.size_partial) == (None, False)


async def test_an_answer_to_a_verb_with_a_message_alone(client: HttpClient, answering: Any) -> None:
    answering.say("POST /v1/stop", b'{"message": "Stopped api"}')
    done = await client.ask(Stop(name="api"))
    assert (done.message, done.name, done.pane, done.text) == ("Stopped api", None, None, None)


async def test_a_word_of_a_newer_supervisor_is_told_and_not_guessed(
    client: HttpClient, answering: Any
) -> None:
    row = json.loads(ROW) | {"state": "paused"}
    answering.say("GET /v1/status", {"version": 1, "agents": [row]})
    with pytest.raises(Failed, match="not valid") as told:
        await client.status()
    assert "cockpit doctor" in told.value.hint

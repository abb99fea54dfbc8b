"""A host may send anything: its own part of the screen tells why, all others work as before."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.remote_host import RemoteHost
from cockpit.client import foreign_answers, http, raw_request
from cockpit.client.client import Supervisor
from cockpit.client.foreign_status import checked_changes
from cockpit.client.host_client import HostClient
from cockpit.client.http import HttpClient
from cockpit.core.errors import Failed
from cockpit.tui.state.follow import follow
from cockpit.tui.state.model import Model, Part
from cockpit.wire.status import AgentStatus, Status
from cockpit.wire.stream import Event
from tests.client.memory import MemoryClient

HOSTILE = r"""
import os, sys
if "--multiplex" in sys.argv:
    sys.stderr.write("Error: No such option '--multiplex'.")
    sys.exit(2)
def say(data):
    while data:
        data = data[os.write(1, data):]
request = b""
while b"\r\n\r\n" not in request:
    request += os.read(0, 65536) or sys.exit()
OK = b"HTTP/1.1 200 OK\r\n"
if b" /v1/events?after=0&limit=200 " in request:
    say(OK + b"Content-Length: 0\r\n\r\n")
    sys.exit()
STREAM = OK + b"Transfer-Encoding: chunked\r\n\r\n"
def chunk(data):
    say(b"%x\r\n%s\r\n" % (len(data), data))
"""
"""What every hostile program begins with; it ends when nobody reads any more. It answers what a
screen asks after each snapshot, so that the rest of a stream is read. It is an older cockpit, so
that each request gets a program of its own."""

USUAL: dict[str, Any] = {
    "runtime": "claude",
    "state": "working",
    "directory": "/w",
    "mode": "prompt",
    "strategy": "handoff",
    "max_handoffs": 3,
}
NUMBER = 10**400


def agent(name: str = "api", **fields: Any) -> dict[str, Any]:
    return AgentStatus(name=name, **USUAL).model_dump() | fields


def snapshot(*agents: dict[str, Any], **fields: Any) -> bytes:
    status = {"agents": list(agents), **fields}
    return json.dumps({"type": "snapshot", "status": status}).encode() + b"\n"


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


@pytest.fixture
def hostile(own_home: Path) -> Callable[[str], RemoteHost]:
    """Makes a host whose `dial-stdio` is a program of these lines."""

    def make(program: str) -> RemoteHost:
        file = own_home / "hostile.py"
        file.write_text(HOSTILE + program)
        return RemoteHost("gpu1", [sys.executable, "-IS", str(file)])

    return make


STREAMS: dict[str, tuple[str, str]] = {
    "a line without an end": (
        "say(STREAM)\nwhile True: chunk(b'x' * 60000)",
        "The host sent a line of more than 8 MB.",
    ),
    "a line of single characters": (
        "say(STREAM)\nwhile True: say(b'1\\r\\nx\\r\\n' * 10000)",
        "The host sends more data than cockpit accepts.",
    ),
    "events without an end": (
        f"say(STREAM); chunk({snapshot(agent())!r})\n"
        f"while True: chunk({line('agent', agent=agent())!r} * 100)",
        "The host sends more data than cockpit accepts.",
    ),
    "interim responses without an end": (
        "while True: say(b'HTTP/1.1 100 Continue\\r\\n\\r\\n' * 1000)",
        "The host sends more data than cockpit accepts.",
    ),
    "a header without an end": (
        "say(OK + b'X: ')\nwhile True: say(b'x' * 60000)",
        "Lost connection to the supervisor on gpu1",
    ),
    "no HTTP": (
        "say(b'Welcome to gpu1 \\x1b]0;owned\\x07')\nos.read(0, 1)",
        "Host gpu1 did not answer like a supervisor",
    ),
    "lines that are no JSON": (
        "say(STREAM)\nwhile True: chunk(b'<html>\\n' * 10)",
        "The host sends messages that cockpit cannot read.",
    ),
    "a snapshot of other types": (
        f"say(STREAM); chunk({snapshot(agent(state=7))!r})\nos.read(0, 1)",
        "The supervisor's response is not valid",
    ),
    "deep JSON": (
        "say(STREAM); chunk(b'{\"type\":\"snapshot\",\"status\":' + b'[' * 500000 + b'\\n')\n"
        "os.read(0, 1)",
        "The supervisor's response is not valid",
    ),
    "deep JSON as a refusal": (
        "say(b'HTTP/1.1 500 No\\r\\nContent-Length: 500000\\r\\n\\r\\n' + b'[' * 500000)\n"
        "os.read(0, 1)",
        "The supervisor failed to handle this request",
    ),
    "the agent of another host": (
        f"say(STREAM); chunk({snapshot(agent('other/api'))!r})\nos.read(0, 1)",
        "'other/api' is not a valid agent name.",
    ),
    "a path as a name": (
        f"say(STREAM); chunk({snapshot(agent('../api'))!r})\nos.read(0, 1)",
        "'../api' is not a valid agent name.",
    ),
    "controls in a name": (
        f"say(STREAM); chunk({snapshot(agent(chr(27) + ']0;x' + chr(7)))!r})\nos.read(0, 1)",
        "is not a valid agent name.",
    ),
    "a name that comes later": (
        f"say(STREAM); chunk({snapshot(agent())!r} + {line('agent', agent=agent('../x'))!r})\n"
        "os.read(0, 1)",
        "'../x' is not a valid agent name.",
    ),
    "a forgotten agent of another host": (
        f"say(STREAM); chunk({snapshot(agent())!r} + {line('forgotten', name='../web')!r})\n"
        "os.read(0, 1)",
        "'../web' is not a valid agent name.",
    ),
    "an event of another host": (
        f"say(STREAM); chunk({snapshot(agent())!r} + "
        + repr(line("event", event={"id": 1, "at": "", "agent": "a/b", "kind": "x", "text": "y"}))
        + ")\nos.read(0, 1)",
        "'a/b' is not a valid agent name.",
    ),
    "a forged id of a handoff": (
        "say(STREAM); chunk("
        + repr(snapshot(agent(handoff={"id": "../h", "reason": "manual", "phase": "review",
                                       "since": ""})))
        + ")\nos.read(0, 1)",
        "'../h' is not the id of a handoff.",
    ),
    "a number without an end": (
        f"say(STREAM); chunk({snapshot(agent(context={'tokens': NUMBER, 'window': 9}))!r})\n"
        "os.read(0, 1)",
        "The host sent a number that is too large.",
    ),
    "too many agents": (
        f"say(STREAM); chunk({snapshot(*(agent(f'a{n}') for n in range(1001)))!r})\nos.read(0, 1)",
        "The host sent 1,001 agents; cockpit reads at most 1,000.",
    ),
    "a note of a megabyte": (
        "import json\nmade = json.loads("
        + repr(snapshot(agent()).decode())
        + ")\nmade['status']['agents'][0]['note'] = 'x' * 1000000\n"
        "say(STREAM); chunk(json.dumps(made).encode() + b'\\n')\nos.read(0, 1)",
        "The host sent a message of more than 256 KB.",
    ),
}  # fmt: skip
"""Programs, and the reason on the host's row."""


class Followed:
    """A screen's model of this machine and of one hostile host."""

    def __init__(self, host: RemoteHost) -> None:
        self.here = MemoryClient(Status(agents=[AgentStatus(name="web", **USUAL)]))
        self.model = Model(others=["gpu1"])
        self._clients: dict[str, Supervisor] = {
            "local": self.here,
            "gpu1": HostClient("gpu1", HttpClient(host, "gpu1", beat=10)),
        }

    @property
    def part(self) -> Part:
        return self.model.parts["gpu1"]

    async def run(self, until: Callable[[], bool]) -> None:
        tasks = [
            asyncio.create_task(follow(client, self.model.parts[host]))
            for host, client in self._clients.items()
        ]
        try:
            async with asyncio.timeout(120):
                while not until():
                    assert not [task for task in tasks if task.done()]
                    await asyncio.sleep(0.01)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("attack", STREAMS)
async def test_the_reason_is_told_and_the_others_go_on(attack: str, hostile: Any) -> None:
    program, reason = STREAMS[attack]
    followed = Followed(hostile(program))

    def refused() -> bool:
        return reason in followed.part.connection.why

    await followed.run(lambda: refused() and followed.model.main.connection.live)

    assert not followed.part.connection.live
    assert "\x1b" not in followed.part.connection.why
    web = followed.model.agents["web"]
    assert web.state == "working"
    assert {name for name in followed.model.agents if name != "web"} <= {"gpu1/api"}


async def test_a_flood_leaves_time_for_the_others(hostile: Any) -> None:
    """The events of this machine are read while a host floods the screen."""
    followed = Followed(hostile(STREAMS["events without an end"][0]))
    rounds = 0

    async def change() -> None:
        nonlocal rounds
        while True:
            followed.here.change("web", activity=f"step {rounds}")
            while followed.model.agents["web"].activity != f"step {rounds}":
                await asyncio.sleep(0)
            rounds += 1

    running = asyncio.create_task(followed.run(lambda: bool(followed.part.connection.why)))
    while "web" not in followed.model.agents:
        await asyncio.sleep(0)
    changing = asyncio.create_task(change())
    await running
    changing.cancel()
    assert rounds > 100


async def test_a_drip_is_cut(hostile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MISSED_BEATS", 0.3)
    program = "import time\nsay(STREAM)\nwhile True: chunk(b'x'); time.sleep(0.02)"
    client = HttpClient(hostile(program), "gpu1", beat=10)

    with pytest.raises(Failed) as caught:
        await anext(aiter(client.watch()))
    assert "The host sent no complete message in" in caught.value.detail


async def test_an_endless_body_is_cut(hostile: Any) -> None:
    program = "say(STREAM)\nwhile True: chunk(b' ' * 60000)"
    with pytest.raises(Failed) as caught:
        await HttpClient(hostile(program), "gpu1").status()
    assert caught.value.detail == "The response has more than 16 MB."
    assert "cockpit doctor --host gpu1" in caught.value.hint


QUESTIONS: dict[str, tuple[Any, str]] = {
    "facts of other types": (lambda c: c.facts("api"), '{"todos": 7, "standing": ["x"]}'),
    "deep facts": (lambda c: c.facts("api"), "[" * 200_000),
    "deep history": (lambda c: c.history(), "[" * 200_000),
    "history without an end": (
        lambda c: c.history(),
        '{"chains": [], "next": "again", "total": 1}',
    ),
    "history of an agent of another host": (
        lambda c: c.history(),
        json.dumps({"chains": [{"agent": "other/api"}], "total": 1}),
    ),
    "a search that finds an agent of another host": (
        lambda c: c.history(search="token"),
        json.dumps([{"agent": "../api"}]),
    ),
    "a page with a handoff that is a path": (
        lambda c: c.history_page(5),
        json.dumps({
            "chains": [{"agent": "api", "sessions": [{"id": "s", "handoffs": [{"id": "/etc"}]}]}],
        }),
    ),
    "a worktree of an agent of another host": (
        lambda c: c.worktrees(),
        json.dumps([{"directory": "/w", "repository": "/r", "made": True, "agent": "a/b"}]),
    ),
    "worktrees of other types": (lambda c: c.worktrees(), '{"a": 1}'),
    "a course beyond all numbers": (
        lambda c: c.course("api"),
        json.dumps({"agent": "api", "stretches": [{"number": NUMBER}]}),
    ),
    "more events than asked for": (
        lambda c: c.events(limit=2),
        "\n".join(
            Event(id=n, at="", kind="x", text="y").model_dump_json() for n in range(3)
        ),
    ),
    "a document that is no text": (lambda c: c.document("h"), "\udcff"),
}  # fmt: skip


@pytest.mark.parametrize("attack", QUESTIONS)
async def test_an_answer_that_cannot_be_right_is_an_error(
    attack: str, hostile: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MOST_PAGES", 3)
    ask, body = QUESTIONS[attack]
    answer = own_home / "answer"
    answer.write_bytes(body.encode("utf-8", "surrogateescape"))
    program = (
        f"body = open({str(answer)!r}, 'rb').read()\n"
        "say(OK + b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)\nos.read(0, 1)"
    )
    with pytest.raises(Failed) as caught:
        await ask(HttpClient(hostile(program), "gpu1"))
    assert caught.value.detail
    assert caught.value.hint


RAW = {
    "a header without an end": "say(OK + b'X: ')\nwhile True: say(b'x' * 60000)",
    "a body without an end": "say(OK + b'\\r\\n')\nwhile True: say(b'x' * 60000)",
}


@pytest.mark.parametrize("attack", RAW)
def test_the_quick_commands_have_limits_too(
    attack: str, hostile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_request, "_LONGEST_BODY", 1_000_000)
    with pytest.raises(Failed, match="Refused an answer of gpu1 that is too long"):
        raw_request.fetch(hostile(RAW[attack]), "/v1/status")
    with pytest.raises(Failed, match="Refused an answer of gpu1 that is too long") as caught:
        list(raw_request.lines(hostile(RAW[attack]), "/v1/watch"))
    assert caught.value.hint == "Check which program answers on gpu1: cockpit doctor --host gpu1"


def test_a_command_that_reads_a_hosts_stream_names_the_host() -> None:
    unreadable = [b"{}"] * (foreign_answers.INVALID_LINES + 1)
    with pytest.raises(Failed, match="Refused the answer of gpu1") as caught:
        list(checked_changes(unreadable, "gpu1"))
    assert caught.value.hint == "Check which program answers on gpu1: cockpit doctor --host gpu1"


def test_a_length_that_is_no_number_is_ignored(hostile: Any) -> None:
    program = "say(OK + b'Content-Length: many\\r\\n\\r\\n{}')"
    assert raw_request.fetch(hostile(program), "/v1/status") == b"{}"


def test_a_host_that_sent_too_much_is_not_read_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(foreign_answers, "monotonic", lambda: now)
    allowance = foreign_answers.Allowance("gpu1")
    allowance.spend(int(foreign_answers.PIECES))
    with pytest.raises(Failed):
        allowance.spend(1)
    now += foreign_answers.PENALTY_SECONDS - 1
    with pytest.raises(Failed):
        allowance.spend(1)
    now += foreign_answers.PENALTY_SECONDS + 1
    allowance.spend(1)


def test_a_busy_host_is_always_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(foreign_answers, "monotonic", lambda: now)
    allowance = foreign_answers.Allowance("gpu1")
    for _ in range(1000):
        allowance.spend(500, 2_000_000)
        now += 1.0

"""Stand-in supervisors of many hosts, in one process: real HTTP on a socket for each host.

Each host has a folder below `--folder`, with its socket where `cockpit dial-stdio` looks for it.
A host has its own round trip, with jitter. Agents change at random, and hosts drop their
connections at random: everything from `--seed`.

Commands on stdin, one a line: `work 0|1`, `dead HOST`, `alive HOST`, `say WORD` (every host's first
agent does this now), `count`. Each is answered by one line of JSON on stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.tui.scene import agent, context

ROUND_TRIPS = (0.002, 0.2)
"""Seconds; each host has one of its own between these."""
JITTER = 0.2
"""Share of a round trip by which each piece of data may come later."""
INSTANT = 1e-6
"""Seconds between two arrivals: asyncio calls what is due at the same time in any order."""
AWAY_SECONDS = (2.0, 8.0)
"""How long a host that dropped its connections refuses new ones."""
HISTORY_POINTS = 40
PANE_LINES = 40
FIRST_TOKENS = 40_000


class Line:
    """One connection: what is sent arrives later, in order."""

    def __init__(self, writer: asyncio.StreamWriter, host: Host) -> None:
        self._writer = writer
        self._host = host
        self._due = 0.0

    def send(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        self._due = max(self._due + INSTANT, loop.time() + self._host.delay())
        loop.call_at(self._due, self._write, data)

    def chunk(self, text: str) -> None:
        data = text.encode() + b"\n"
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def cut(self) -> None:
        self._writer.transport.abort()

    def _write(self, data: bytes) -> None:
        if not self._host.dead and not self._writer.is_closing():
            self._host.sent += len(data)
            self._writer.write(data)


class Host:
    """A supervisor with agents, as far as a screen asks it."""

    def __init__(self, name: str, agents: int, chance: random.Random, *, delays: bool) -> None:
        self.name = name
        self.dead = False
        """Whether it is silent: it accepts connections and answers nothing."""
        self.away = False
        """Whether it closes each new connection at once."""
        self.sent = 0
        self.answered = 0
        self.watchers: set[Line] = set()
        self._lines: set[Line] = set()
        self._chance = chance
        self._round_trip = chance.uniform(*ROUND_TRIPS) if delays else 0.0
        self._agents = {f"agent-{number:03}": _row(number) for number in range(agents)}
        self._last_event = 0

    def delay(self) -> float:
        """Return seconds until data that is sent now arrives."""
        return self._round_trip / 2 * (1 + self._chance.uniform(0, JITTER))

    def happen(self) -> None:
        """Change one agent; send it to everybody who watches."""
        self._last_event += 1
        name = self._chance.choice(list(self._agents))
        row = self._agents[name]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row["activity"] = f"Edit src/module_{self._chance.randrange(97)}.py"
        row["last_activity_at"] = now
        if self._chance.random() < 0.25:
            grown = (row["context"]["tokens"] or 0) + self._chance.randrange(200, 2_000)
            row["context"] = context(grown if grown < 150_000 else FIRST_TOKENS).model_dump()
        self._tell({"type": "agent", "agent": row})
        if self._chance.random() < 0.05:
            event = {"id": self._last_event, "at": now, "agent": name, "kind": "turn.ended",
                     "text": f"{name} ended a turn"}  # fmt: skip
            self._tell({"type": "event", "event": event})

    def say(self, word: str) -> None:
        """Let the first agent do something else."""
        row = next(iter(self._agents.values()))
        row["activity"] = word
        self._tell({"type": "agent", "agent": row})

    def cut(self) -> None:
        for line in list(self._lines):
            line.cut()

    def _tell(self, message: dict[str, Any]) -> None:
        if not self.watchers:
            return
        text = json.dumps(message)
        for watcher in self.watchers:
            watcher.chunk(text)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(writer, self)
        self._lines.add(line)
        try:
            if self.away:
                return
            target = await _request(reader)
            self.answered += 1
            await asyncio.sleep(self.delay())
            await self._answer(urlsplit(target), line, reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self.watchers.discard(line)
            self._lines.discard(line)
            writer.close()

    async def _answer(self, target: Any, line: Line, reader: asyncio.StreamReader) -> None:
        match target.path.split("/"):
            case ["", "v1", "watch"]:
                self._begin(line)
                line.chunk(json.dumps({"type": "snapshot", "status": self._status()}))
                self.watchers.add(line)
                beat = float(parse_qs(target.query).get("beat", ["0"])[0])
                await self._until_left(line, reader, beat)
            case ["", "v1", "screen", name] if name in self._agents:
                self._begin(line)
                line.chunk(json.dumps({"lines": _pane(name, self._last_event)}))
                await self._until_left(line, reader, 0)
            case ["", "v1", "status"]:
                await self._whole(line, reader, json.dumps(self._status()))
            case ["", "v1", "events"]:
                await self._whole(line, reader, "")
            case _:
                await self._whole(line, reader, "{}", "404 Not Found")

    def _begin(self, line: Line) -> None:
        line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    async def _whole(
        self, line: Line, reader: asyncio.StreamReader, body: str, status: str = "200 OK"
    ) -> None:
        data = body.encode()
        line.send(
            b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(data)) + data
        )
        await reader.read()  # the client closes

    async def _until_left(self, line: Line, reader: asyncio.StreamReader, beat: float) -> None:
        """Keep the stream open, with an empty line after each `beat` seconds."""
        while True:
            try:
                async with asyncio.timeout(beat or None):
                    await reader.read()
                return
            except TimeoutError:
                line.chunk("")

    def _status(self) -> dict[str, Any]:
        return {"version": 1, "supervisor": {"version": "0"}, "agents": list(self._agents.values())}


class Fleet:
    """All hosts, and what happens to them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._chance = random.Random(arguments.seed)
        self._rate = arguments.events
        self._drops = arguments.drops
        self._working = False
        self.dropped = 0
        self.hosts = {
            name: Host(
                name,
                arguments.agents,
                random.Random(f"{arguments.seed} {name}"),
                delays=not arguments.no_delays,
            )
            for name in host_names(arguments.hosts)
        }
        self._agents = arguments.agents

    async def run(self, folder: Path) -> None:
        servers = []
        for name, host in self.hosts.items():
            place = folder / name / "run"
            place.mkdir(parents=True, mode=0o700)
            path = place / "cockpit.sock"
            servers.append(await asyncio.start_unix_server(host.serve, path))
        print(json.dumps({"ready": len(servers)}), flush=True)
        tasks = [asyncio.create_task(self._work())]
        if self._drops:
            tasks.append(asyncio.create_task(self._drop()))
        async for command in _commands():
            print(json.dumps(self._do(*command.split())), flush=True)
        for task in tasks:
            task.cancel()

    def _do(self, verb: str, argument: str = "") -> dict[str, Any]:
        match verb:
            case "work":
                self._working = argument == "1"
            case "dead" | "alive":
                self.hosts[argument].dead = verb == "dead"
            case "say":
                for host in self.hosts.values():
                    host.say(argument)
        hosts = self.hosts.values()
        return {
            "watched": sum(bool(host.watchers) for host in hosts),
            "sent": sum(host.sent for host in hosts),
            "answered": sum(host.answered for host in hosts),
            "dropped": self.dropped,
        }

    async def _work(self) -> None:
        pause = 1 / (self._rate * self._agents * len(self.hosts)) if self._rate else 1.0
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due = max(due + pause, loop.time() - 1)
            await asyncio.sleep(max(0.0, due - loop.time()))
            if self._working and self._rate:
                self._chance.choice(list(self.hosts.values())).happen()

    async def _drop(self) -> None:
        """Cut the connections of one host after another, each for some seconds."""
        while True:
            await asyncio.sleep(self._chance.expovariate(self._drops / 60))
            host = self._chance.choice(list(self.hosts.values()))
            if not self._working or host.away:
                continue
            self.dropped += 1
            host.away = True
            host.cut()
            seconds = self._chance.uniform(*AWAY_SECONDS)
            asyncio.get_running_loop().call_later(seconds, setattr, host, "away", False)


def host_names(hosts: int) -> list[str]:
    return [f"host{number:03}" for number in range(1, hosts + 1)]


async def _request(reader: asyncio.StreamReader) -> str:
    """Read one request without its body; return its target."""
    head = await reader.readuntil(b"\r\n\r\n")
    return head.split(b" ", 2)[1].decode()


async def _commands() -> AsyncIterator[str]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode()


def _row(number: int) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    tokens = FIRST_TOKENS + 500 * number
    trend = [tokens * (step + 1) // HISTORY_POINTS for step in range(HISTORY_POINTS)]
    reading = context(tokens, trend=trend)
    made = agent(f"agent-{number:03}", context=reading, chain_cost_usd=0.5, last_activity_at=now)
    return made.model_dump()


def _pane(name: str, number: int) -> list[str]:
    return [f"\x1b[1m{name}\x1b[0m step {number + line}" for line in range(PANE_LINES)]


def arguments() -> argparse.ArgumentParser:
    """Return the arguments that the run shares with its stand-ins."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--agents", type=int, default=20, help="agents on each host")
    parser.add_argument("--events", type=float, default=0.2, help="changes per agent and second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drops", type=float, default=0, help="dropped hosts per minute")
    return parser


def main() -> None:
    parser = argparse.ArgumentParser(parents=[arguments()])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--no-delays", action="store_true", help="answer at once")
    given = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(Fleet(given).run(given.folder))


if __name__ == "__main__":
    main()

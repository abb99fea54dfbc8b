"""What watching costs: from a line in a transcript to a line for the screen, processor and memory.

The agents are programs that sleep; the bench writes their transcripts and notes in their place.
Swaps are flown by stand-ins. Every figure is of a real supervisor over a real tmux.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import select
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.client.quick import fetch
from cockpit.demo.repository import make_repository
from cockpit.demo.standin.program import install
from tests.bench.rows import percentile, row

TICKS = os.sysconf("SC_CLK_TCK")
WATCHED_SECONDS = 10.0
EACH_PER_SECOND = 2.0
SWAPS = 5
SETTLED = 0.5
"""Seconds without a byte after which a screen is drawn."""
PATIENCE = 60.0
HOME = Path(os.environ["COCKPIT_HOME"])
SOCKET = HOME / "run" / "cockpit.sock"
SLEEPER = (
    '#!/bin/sh\n[ "$1" = --version ] && echo "2.1.330 (Claude Code)" && exit\nexec sleep 86400\n'
)
CONTEXT = {"PATH": f"{HOME / 'bin'}:{os.environ['PATH']}", "CLAUDE_CONFIG_DIR": str(HOME / "cli")}


def main() -> None:
    for agents in (50, 200):
        with flying(fleet_of(agents)):
            _watching(Sleepers.of(agents))
    with flying(one_that_swaps()):
        _swapping()
    _screen()


# What is measured


def _watching(sleepers: Sleepers) -> None:
    number = len(sleepers.names)
    few = number <= 50
    sleepers.rest()
    spent = _spent(WATCHED_SECONDS)
    row(f"{number} idle agents: processor", spent, "%", "<= 1, with the screen" * few)
    row(f"{number} idle agents: memory", _megabytes(), "MB", "<= 120, with the screen" * few)
    sleepers.work()
    late: list[float] = []
    with watching(sleepers.seen):
        began = _ticks()
        late = sleepers.write_for(WATCHED_SECONDS)
        spent = 100 * (_ticks() - began) / TICKS / WATCHED_SECONDS
    what = f"{number} agents at {EACH_PER_SECOND:.0f} events/s each"
    row(f"{what}: line -> row, median", statistics.median(late), "ms", "<= 50")
    row(f"{what}: line -> row, p99", percentile(late, 0.99), "ms", "<= 150")
    row(f"{what}: rows told of lines written", 100 * len(late) / sleepers.written, "%")
    row(f"{what}: processor", spent, "%", "<= 8, with the screen" * few)


def _swapping() -> None:
    stopped, running = [], []
    for number in range(SWAPS):
        until(lambda: agent()["state"] in {"idle", "done"} and agent()["handoff"] is None)
        moments: dict[str, float] = {}
        with following(moments):
            fetch(SOCKET, "/v1/handoff", body={"name": "swapper"})
            until(partial(handed_off, number + 1))
        stopped.append(1000 * (moments["agent.ended"] - moments["handoff.stopping"]))
        running.append(1000 * (moments["handoff.confirming"] - moments["agent.ended"]))
    row("swap: told to end -> gone, its own end included", statistics.median(stopped), "ms")
    row("swap: gone -> new process running", statistics.median(running), "ms", "<= 500")


def _screen() -> None:
    cold, flying_, there, back = [], [], [], []
    for _ in range(3):
        try:
            with terminal(["--config", str(fleet_of(1))], "agent000") as (seconds, _keys):
                cold.append(1000 * seconds)
            for _ in range(3):
                with terminal([], "agent000") as (seconds, keys):
                    flying_.append(1000 * seconds)
                    there.append(until_shown(keys, b"\r", agents=True))
                    back.append(until_shown(keys, b"\x1b[24~", agents=False))
        finally:
            _end()
    row("cockpit -> first frame, cold", statistics.median(cold), "ms", "<= 800")
    row("cockpit -> first frame, flying", statistics.median(flying_), "ms", "<= 100")
    row("into an agent's pane", statistics.median(there), "ms", "<= 30")
    row("and back", statistics.median(back), "ms", "<= 30")


# Cockpits


def fleet_of(agents: int) -> Path:
    """A configuration with so many sleepers."""
    program(SLEEPER)
    tables = ['[defaults]\nmode = "observe"\nstart = "auto"\n']
    for number in range(agents):
        place = HOME / "work" / f"agent{number:03}"
        place.mkdir(parents=True, exist_ok=True)
        tables.append(f'[[agents]]\nname = "{place.name}"\ndirectory = "{place}"\n')
    return config_file("\n".join(tables))


def one_that_swaps() -> Path:
    """A configuration with one stand-in whose documents nobody has to write."""
    install(HOME / "bin")
    place = HOME / "repository"
    place.mkdir()
    make_repository(place, os.environ)
    return config_file(
        '[defaults.handoff]\nwriters = ["facts"]\nmax_per_job = 100\n'
        f'[[agents]]\nname = "swapper"\nmode = "auto"\nstart = "auto"\ndirectory = "{place}"\n'
        'prompt = "Count."\n'
        'env = { STANDIN_PACE = "0.01", STANDIN_STEPS = "2", STANDIN_STEP_TOKENS = "10" }\n'
    )


def program(text: str) -> None:
    path = HOME / "bin" / "claude"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def config_file(text: str) -> Path:
    path = HOME / "bench.toml"
    path.write_text(text)
    return path


@contextmanager
def flying(config: Path) -> Iterator[None]:
    """A supervisor with everybody started; ended with them afterwards, and forgotten."""
    command("--config", str(config), "up")
    try:
        until(lambda: all(each["pid"] for each in status()["agents"]))
        yield
    finally:
        _end()


def _end() -> None:
    command("down", "--agents")
    shutil.rmtree(HOME / "state", ignore_errors=True)


def command(*words: str) -> None:
    line = [sys.executable, "-m", "cockpit", *words]
    said = subprocess.DEVNULL
    subprocess.run(line, check=True, stdout=said, stderr=said, env={**os.environ, **CONTEXT})


def status() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fetch(SOCKET, "/v1/status"))
    return found


def agent() -> dict[str, Any]:
    (found,) = status()["agents"]
    return dict(found)


def handed_off(times: int) -> bool:
    return bool(agent()["handoffs"] == times)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(json.dumps(status(), indent=1)[:4000])
        time.sleep(0.05)


# The sleepers' part


@dataclass
class Sleepers:
    """Who writes for agents that only sleep."""

    names: list[str]
    transcripts: list[Path]
    pids: list[int]
    sessions: list[str]
    tokens: int = 20_000
    written: int = 0
    at: dict[tuple[str, int], float] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, number: int) -> Sleepers:
        rows = status()["agents"]
        assert len(rows) == number
        return cls(
            [each["name"] for each in rows],
            [Path(each["transcript"]) for each in rows],
            [each["pid"] for each in rows],
            [each["session_id"] for each in rows],
        )

    def rest(self) -> None:
        """Everybody has answered once, and waits."""
        for place in range(len(self.names)):
            self.transcripts[place].parent.mkdir(parents=True, exist_ok=True)
            self.reply(place)
        self.note("idle")
        until(lambda: all(each["state"] == "idle" for each in status()["agents"]))

    def work(self) -> None:
        self.note("busy")
        until(lambda: all(each["state"] == "working" for each in status()["agents"]))

    def note(self, activity: str) -> None:
        """What the CLI notes of its process."""
        folder = HOME / "cli" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        for pid, session in zip(self.pids, self.sessions, strict=True):
            started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
            told = {
                "pid": pid,
                "procStart": started,
                "sessionId": session,
                "status": activity,
                "updatedAt": time.time() * 1000,
            }
            (folder / f"{pid}.json").write_text(json.dumps(told))

    def reply(self, place: int) -> None:
        """One more message in a transcript."""
        self.tokens += 1
        usage = {"input_tokens": self.tokens, "output_tokens": 5}
        message = {
            "id": f"msg_{self.tokens}",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": [{"type": "text", "text": "words " * 60}],
            "usage": usage,
        }
        line = {"type": "assistant", "isSidechain": False, "message": message}
        line |= {"sessionId": self.sessions[place], "uuid": f"{self.tokens:032x}"}
        data = json.dumps(line).encode() + b"\n"
        self.at[self.names[place], self.tokens] = time.monotonic()
        with self.transcripts[place].open("ab", buffering=0) as file:
            file.write(data)

    def write_for(self, seconds: float) -> list[float]:
        """Write evenly over all of them; how late each row came that was told, in milliseconds.

        Two lines within one telling are one row; the first of them is not counted.
        """
        pause = 1 / (EACH_PER_SECOND * len(self.names))
        end, due = time.monotonic() + seconds, time.monotonic()
        chance = random.Random(1)
        while time.monotonic() < end:
            self.reply(chance.randrange(len(self.names)))
            self.written += 1
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
        time.sleep(0.3)
        return self.late

    def seen(self, line: dict[str, Any], at: float) -> None:
        if line.get("type") != "agent":
            return
        told = line["agent"]
        written = self.at.pop((told["name"], told["context"]["tokens"]), None)
        if written is not None:
            self.late.append(1000 * (at - written))


# Looking


@contextmanager
def listening(target: str, take: Callable[[dict[str, Any], float], None]) -> Iterator[None]:
    """Hand each line of a stream over with the moment at which it came."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(SOCKET))
    connection.sendall(f"GET {target} HTTP/1.0\r\n\r\n".encode())
    ready = threading.Event()

    def listen() -> None:
        with connection.makefile("rb") as lines, suppress(OSError, ValueError):
            for raw in lines:
                at = time.monotonic()
                ready.set()
                if raw.startswith(b"{"):
                    take(json.loads(raw), at)

    thread = threading.Thread(target=listen)
    thread.start()
    ready.wait(PATIENCE)
    try:
        yield
    finally:
        connection.shutdown(socket.SHUT_RDWR)
        thread.join()
        connection.close()


def watching(take: Callable[[dict[str, Any], float], None]) -> Any:
    return listening("/v1/watch", take)


def following(moments: dict[str, float]) -> Any:
    """Note when each kind of event first came."""

    def note(event: dict[str, Any], at: float) -> None:
        moments.setdefault(event["kind"], at)

    return listening("/v1/events?follow=1", note)


def _pid() -> int:
    return int(status()["supervisor"]["pid"])


def _ticks() -> int:
    fields = Path(f"/proc/{_pid()}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _spent(seconds: float) -> float:
    """Share of a core that the supervisor takes, in percent."""
    began = _ticks()
    time.sleep(seconds)
    return 100 * (_ticks() - began) / TICKS / seconds


def _megabytes() -> float:
    lines = Path(f"/proc/{_pid()}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@contextmanager
def terminal(words: list[str], wanted: str) -> Iterator[tuple[float, int]]:
    """`cockpit` in a terminal of our own: seconds until it shows what is wanted, and its keys."""
    began = time.monotonic()
    pid, master = pty.fork()
    if not pid:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {**os.environ, **CONTEXT, "TERM": "xterm-256color"}
        os.chdir(HOME)
        line = [sys.executable, "-m", "cockpit", *words]
        os.execvpe(line[0], line, environment)
    seen = b""
    while wanted.encode() not in seen:
        ready, _, _ = select.select([master], [], [], PATIENCE)
        if not ready:
            raise TimeoutError(seen.decode(errors="replace"))
        seen += os.read(master, 1 << 20)
    seconds = time.monotonic() - began
    try:
        yield seconds, master
    finally:
        os.kill(pid, signal.SIGHUP)
        os.close(master)
        os.waitpid(pid, 0)


def until_shown(keys: int, key: bytes, *, agents: bool) -> float:
    """Milliseconds from a key to another window in the terminal: an agent's, or our own."""
    asked = ["tmux", "-S", str(HOME / "run" / "tmux.sock"), "list-clients", "-F", "#{window_name}"]
    while select.select([keys], [], [], SETTLED)[0]:
        os.read(keys, 1 << 20)
    began = time.monotonic()
    os.write(keys, key)
    while True:
        shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        if shown.startswith("agent") == agents:
            return 1000 * (time.monotonic() - began)
        if time.monotonic() - began > PATIENCE:
            raise TimeoutError(shown)
        if select.select([keys], [], [], 0)[0]:
            os.read(keys, 1 << 20)


if __name__ == "__main__":
    main()

"""A host over slow lines: how soon an event there is a row here, and how soon a cut is over.

Then the screen itself over ssh on a line of 300 ms, 5 % loss and 64 kbit/s, beside `tmux attach`
over ssh and beside mosh. The lines are processes that delay and lose data (`slow_line.py`), so that
no rights are needed. The supervisor of the first part is a stand-in that answers at once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from tests.bench.flights import COCKPIT, CONTEXT, HOME, fleet_of, flying
from tests.bench.rows import note, percentile, row
from tests.bench.sleepers import Sleepers
from tests.bench.terminal import Terminal
from tests.scale.fleet import StandIns, environment_of, stand_ins

LINE = Path(__file__).with_name("slow_line.py")
CONDITIONS = ((0, 0), (50, 0), (200, 0), (50, 5))
"""Round trip in milliseconds, and loss in per cent."""
WORDS = 30
CUT_SECONDS = 5.0
WITHIN = 60.0
FAR_LINE = ("--round-trip", "300", "--loss", "5", "--kilobits", "64")
FAR_AGENTS = 10
FAR_SIZE = (30, 100)
FAR_KEYS = 6
KEY_SECONDS = 3.0
OVER_SSH = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
"""As in a login from another machine, so that the screen is in `low`."""
BUSY_SECONDS = 20.0
COUNT = HOME / "count"
NEEDED = ("sshd", "ssh", "ssh-keygen", "tmux")


def main() -> None:
    for round_trip, loss in CONDITIONS:
        events(round_trip, loss)
    far_screens()


def events(round_trip: int, loss: int) -> None:
    """From an event on the host to its word on the screen, and from the end of a cut to there."""
    folder = Path(mkdtemp(prefix="cr", dir=HOME.parent))
    cut = folder / "cut"
    line = [
        sys.executable, str(LINE), "--round-trip", str(round_trip), "--loss", str(loss),
        "--cut", str(cut), "exec",
    ]  # fmt: skip
    given = argparse.Namespace(agents=5, events=0.0, seed=1, drops=0)
    what = f"{round_trip} ms round trip" + (f", {loss} % loss" if loss else "")
    with stand_ins(folder, 1, given, "--no-delays") as host:
        environment = environment_of(folder, ["host001"], line)
        argv = [sys.executable, "-P", "-m", "cockpit", "--direct"]
        with Terminal(argv, environment, folder) as terminal:
            wait_for(terminal, b"agent-000")
            # Nothing of a word is in the same cell before: only cells that changed are sent.
            late = [shown(terminal, host, "ab"[number % 2] * 8) for number in range(WORDS)]
            row(f"{what}: event to row, median", statistics.median(late), "ms")
            row(f"{what}: event to row, p95", percentile(late, 0.95), "ms", at_most=round_trip + 60)
            cut.touch()
            terminal.seen = b""
            wait_for(terminal, b"lost")
            terminal.drained(CUT_SECONDS)
            host.tell("say healed")
            terminal.seen = b""
            cut.unlink()
            began = time.monotonic()
            wait_for(terminal, b"healed")
            row(f"{what}: back after a cut", time.monotonic() - began, "s", at_most=2)
        subprocess.run(
            [*argv[:-1], "down"],
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
        )


def shown(terminal: Terminal, host: StandIns, word: str) -> float:
    """Milliseconds until the word is on the screen."""
    terminal.drained(0.15)
    terminal.seen = b""
    began = time.monotonic()
    host.tell(f"say {word}")
    wait_for(terminal, word.encode())
    return 1000 * (time.monotonic() - began)


def wait_for(terminal: Terminal, word: bytes) -> None:
    end = time.monotonic() + WITHIN
    while word not in terminal.seen:
        if time.monotonic() > end:
            raise TimeoutError(f"{word!r} was never shown: {terminal.seen[-300:]!r}")
        terminal.read(0.5)


def far_screens() -> None:
    """The screen of another machine, in a terminal that ssh or mosh brings here."""
    missing = [name for name in NEEDED if not where(name)]
    if missing:
        note(f"the screen over ssh: not measured. Missing: {', '.join(missing)}")
        return
    with flying(fleet_of(FAR_AGENTS)), listening_sshd() as (ssh, port):
        sleepers = Sleepers.of(FAR_AGENTS)
        sleepers.rest()
        with Terminal([*COCKPIT], {**os.environ, **CONTEXT, **OVER_SSH}, HOME, FAR_SIZE) as here:
            here.until([b"agent000"])  # the screen runs, as after the first visit
        with slow("tcp", port) as slow_port:
            reach = [*ssh, "-p", str(slow_port), "-t", "127.0.0.1"]
            figures = far("ssh -t host cockpit", [*reach, "cockpit"], sleepers)
            compressed = [reach[0], "-C", *reach[1:], "cockpit"]
            beside = {"ssh -C": far("ssh -C -t host cockpit", compressed, sleepers)}
            socket = HOME / "run" / "tmux.sock"
            attach = f"tmux -S {shlex.quote(str(socket))} attach"
            beside["tmux attach"] = far("tmux attach", [*reach, attach], sleepers)
        if where("mosh-server") and where("mosh-client"):
            beside["mosh"] = over_mosh([*ssh, "-p", str(port)], sleepers)
        else:
            note("mosh: not measured. It is not installed.")
    goals = {"first frame": 3.0, "first frame, bytes": 6.0, "a key": 200.0, "busy": 1000.0}
    units = {
        "first frame": "s",
        "first frame, bytes": "KB",
        "a key": "B",
        "busy": "B/s",
        "login and first frame, on the line": "KB",
        "a key, on the line": "B",
        "busy, on the line": "B/s",
    }
    for name, value in figures.items():
        others = {other: theirs[name] for other, theirs in beside.items()}
        what = f"300 ms, 5 %, 64 kbit/s: {name}"
        row(what, value, units[name], at_most=goals.get(name), beside=others)
    note("tmux draws a terminal twice when it attaches; both are counted in the bytes")


def far(
    name: str, argv: list[str], sleepers: Sleepers, more: dict[str, str] | None = None
) -> dict[str, float]:
    """What one way to see the screen costs."""
    print(f"  {name} …", flush=True)
    environment = {**os.environ, **(more or {})}
    with Terminal(argv, environment, HOME, FAR_SIZE) as terminal:
        size = 0
        while b"agent000" not in terminal.seen:
            if time.monotonic() > terminal.begun + WITHIN:
                raise TimeoutError(f"no frame: {terminal.seen[-300:]!r}")
            size += len(terminal.read(0.5))
        took = time.monotonic() - terminal.begun
        size += terminal.drained(KEY_SECONDS)
        login = on_the_line()
        sizes, lines = [], []
        for number in range(FAR_KEYS):
            before = on_the_line()
            terminal.press(b"j" if number % 4 < 2 else b"k")
            sizes.append(terminal.drained(KEY_SECONDS))
            lines.append(on_the_line() - before)
        sleepers.work()
        terminal.drained(KEY_SECONDS)
        total, end, before = 0, time.monotonic() + BUSY_SECONDS, on_the_line()
        while time.monotonic() < end:
            sleepers.reply(sleepers.written % FAR_AGENTS)
            sleepers.written += 1
            total += terminal.drained(1 / FAR_AGENTS / 2)
        busy = on_the_line() - before
        sleepers.note("idle")
    return {
        "first frame": took,
        "first frame, bytes": size / 1e3,
        "a key": statistics.median(sizes),
        "busy": total / BUSY_SECONDS,
        "login and first frame, on the line": login / 1e3,
        "a key, on the line": statistics.median(lines),
        "busy, on the line": busy / BUSY_SECONDS,
    }


def on_the_line() -> int:
    """Bytes that have come over the line, encrypted, since the last connection began."""
    return int(COUNT.read_text())


def over_mosh(ssh: list[str], sleepers: Sleepers) -> dict[str, float]:
    """mosh's own client and server; the server is started over a quick line."""
    start = [*ssh, "127.0.0.1", "mosh-server new -i 127.0.0.1 -- cockpit"]
    said = subprocess.run(start, capture_output=True, text=True, check=True, timeout=60).stdout
    _, _, port, key = next(line for line in said.splitlines() if "MOSH CONNECT" in line).split()
    with slow("udp", int(port)) as slow_port:
        argv = ["mosh-client", "127.0.0.1", str(slow_port)]
        return far("mosh", argv, sleepers, {"MOSH_KEY": key})


@contextmanager
def slow(kind: str, port: int) -> Iterator[int]:
    """A line with the far conditions in front of a port; yields its port."""
    argv = [sys.executable, str(LINE), *FAR_LINE, "--count", str(COUNT), kind, str(port)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def listening_sshd() -> Iterator[tuple[list[str], int]]:
    """A real sshd on loopback for this user; yields the words that begin `ssh`, and the port."""
    from tests.journeys.sshd import SEPARATION, Sshd

    if os.getuid() == 0:
        SEPARATION.mkdir(exist_ok=True)
    folder = HOME / "sshd"
    folder.mkdir(mode=0o700)
    script = folder / "cockpit"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m cockpit "$@"\n')
    script.chmod(0o755)
    kept = {name: os.environ[name] for name in ("HOME", "COCKPIT_HOME")}
    given = {**kept, **CONTEXT, "LANG": "C.UTF-8"}
    door = Sshd(folder, {**given, "PATH": f"{folder}:{CONTEXT['PATH']}"})
    door.begin()
    try:
        config = ["-F", str(folder / "config"), "-o", "StrictHostKeyChecking=no"]
        quiet = ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
        yield [door.ssh[0], *config, *quiet], door._port
    finally:
        door.end()


def where(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


if __name__ == "__main__":
    main()

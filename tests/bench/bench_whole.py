"""The whole of it as a user has it: `cockpit` in a terminal, under its tmux, over a supervisor.

How soon it is there, how soon a pane is, what it costs at rest and at work, and how long a line in
a transcript takes to the bar on the screen. Agents only sleep; the bench writes in their place.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.flights import (
    COCKPIT,
    CONTEXT,
    HOME,
    PATIENCE,
    command,
    end,
    fleet_of,
    flying,
    status,
)
from tests.bench.processes import command_line, marked, proportional, spent
from tests.bench.rows import percentile, row
from tests.bench.sleepers import EACH_PER_SECOND, Sleepers
from tests.bench.terminal import Terminal

AGENTS = 50
TALL = (70, 160)
"""Rows and columns: every agent has its row on the screen."""
COLD_STARTS = 5
RETURNS = 3
"""How often each of those is come back to."""
LINES = 120
ESCAPES = re.compile(rb"\x1b\[[\d;?]*[A-Za-z]")
WARM_SECONDS = 3.0
OF_THE_SCREEN = b"help"
"""Word in the screen's last line; not in the rows that are shown while it is being loaded."""


def main() -> None:
    first_frames()
    with flying(fleet_of(AGENTS)):
        together(Sleepers.of(AGENTS))


@contextmanager
def cockpit(words: list[str], at: Path = HOME) -> Iterator[tuple[Terminal, float]]:
    """`cockpit` in a terminal, and how many milliseconds it took to show the first agent."""
    environment = {**os.environ, **CONTEXT}
    with Terminal([*COCKPIT, *words], environment, at, TALL) as terminal:
        yield terminal, terminal.until([b"agent000"])


def first_frames() -> None:
    first, cold, whole, back, project, there, home = [], [], [], [], [], [], []
    for _ in range(COLD_STARTS):
        file = fleet_of(1)
        try:
            with cockpit(["--config", str(file)]) as (_, took):
                first.append(took)
            for _ in range(RETURNS):
                with cockpit([]) as (terminal, took):
                    back.append(took)
                    there.append(until_shown(terminal, b"\r", agents=True))
                    home.append(until_shown(terminal, b"\x1b[24~", agents=False))
                with cockpit(["--config", str(file)]) as (_, took):
                    project.append(took)
            command("down", "--agents")
            with cockpit(["--config", str(file)]) as (terminal, took):
                cold.append(took)
                whole.append(terminal.until([OF_THE_SCREEN]))
        finally:
            end()
    row("cockpit to its screen, the very first start", statistics.median(first), "ms", at_most=800)
    row("cockpit to the agents of before, cold", statistics.median(cold), "ms", at_most=300)
    row("cockpit to its screen, cold", statistics.median(whole), "ms", at_most=800)
    row("cockpit to its screen, already running", statistics.median(back), "ms", at_most=100)
    row("the same, with a file that is read first", statistics.median(project), "ms", at_most=100)
    row("into an agent's pane", statistics.median(there), "ms", at_most=30)
    row("and back", statistics.median(home), "ms", at_most=30)


def until_shown(terminal: Terminal, key: bytes, *, agents: bool) -> float:
    """Milliseconds from a key to another window in the terminal: an agent's, or our own."""
    asked = ["tmux", "-S", str(HOME / "run" / "tmux.sock"), "list-clients", "-F", "#{window_name}"]
    terminal.quiet()
    began = time.monotonic()
    terminal.press(key)
    while True:
        shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        if shown.startswith("agent") == agents:
            return 1000 * (time.monotonic() - began)
        if time.monotonic() - began > PATIENCE:
            raise TimeoutError(shown)
        terminal.read(0)


def together(sleepers: Sleepers) -> None:
    with cockpit([]) as (terminal, _):
        ours = [int(status()["supervisor"]["pid"]), *found(b"--in-home-window")]
        tmux = [terminal.pid, *found(b"start-server")]
        sleepers.rest()
        terminal.drained(WARM_SECONDS)
        what = f"{AGENTS} idle agents"
        rate, share = terminal.watched(lambda: ours)
        row(f"{what}: bytes to the terminal", rate / 1e3, "KB/s", at_most=0)
        row(f"{what}: processor of supervisor and screen", share, "%", at_most=1)
        row(f"{what}: memory of supervisor and screen", proportional(ours), "MB", at_most=120)
        row(f"{what}: memory of tmux besides", proportional(tmux), "MB")
        sleepers.work()
        terminal.drained(WARM_SECONDS)
        what = f"{AGENTS} agents at {EACH_PER_SECOND:.0f} events/s each"
        with written(sleepers):
            began = spent(tmux)
            clock = time.monotonic()
            rate, share = terminal.watched(lambda: ours)
            besides = 100 * (spent(tmux) - began) / (time.monotonic() - clock)
            late = [to_the_bar(terminal, sleepers, number) for number in range(LINES)]
        row(f"{what}: bytes to the terminal", rate / 1e3, "KB/s", at_most=8)
        row(f"{what}: processor of supervisor and screen", share, "%", at_most=8)
        row(f"{what}: processor of tmux besides", besides, "%")
        row(f"{what}: line to bar on the screen, median", statistics.median(late), "ms", at_most=50)
        row(f"{what}: line to bar on the screen, p99", percentile(late, 0.99), "ms", at_most=150)


@contextmanager
def written(sleepers: Sleepers) -> Iterator[None]:
    """Lines come in all the while, for all agents but the one whose bar is watched."""
    over = threading.Event()

    def write() -> None:
        chance = random.Random(1)
        pause = 1 / (EACH_PER_SECOND * len(sleepers.names))
        due = time.monotonic()
        while not over.is_set():
            sleepers.reply(chance.randrange(1, len(sleepers.names)))
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def to_the_bar(terminal: Terminal, sleepers: Sleepers, number: int) -> float:
    """Milliseconds from a line with another reading of the first agent to its figure."""
    tokens, shown = ((88_000, b"88"), (66_000, b"66"))[number % 2]
    terminal.drained(0.05)
    seen, began = b"", time.monotonic()
    sleepers.reply(0, tokens)
    while shown not in ESCAPES.sub(b"", seen):
        if time.monotonic() > began + 5:
            raise TimeoutError(f"{shown!r} never came: {seen[-300:]!r}")
        seen += terminal.read(0.5)
    return 1000 * (time.monotonic() - began)


def found(word: bytes) -> list[int]:
    """The processes of this cockpit that have these words in their command line."""
    return [pid for pid in marked(str(HOME)) if word in command_line(pid)]


if __name__ == "__main__":
    main()

"""What is seen of a flight from outside: processes in /proc, the database's rows, files.

Shares nothing with the supervisor but its files, and asks it nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLES = 0.012
"""Seconds between two looks at the processes."""
STANDIN = b"cockpit.demo.standin"


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent's main process."""

    pid: int
    started: int
    run: str

    @property
    def name(self) -> str:
        """Whose process it is, by its marker."""
        return self.run.rpartition("-")[0]


class Witness:
    """Looks at every process of one folder, all the time, from a thread."""

    def __init__(self, home: Path) -> None:
        self._mark = os.fsencode(f"{home}/")
        self._foreign: set[int] = set()
        self._mine: set[int] = set()
        self._known: dict[tuple[int, int], Agent] = {}
        self._ended = threading.Event()
        self.samples = 0
        self.crowds: list[tuple[Agent, ...]] = []
        """Moments at which more than one agent was there."""
        self.seen: set[Agent] = set()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLES):
            self.samples += 1
            there = self.agents()
            self.seen |= there
            # A look takes time: who was read first may have gone before the last was there.
            if crowded(there) and (both := crowded(there & self.agents())):
                self.crowds.append(both)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def ours(self) -> list[int]:
        """Every process that carries the folder in its environment."""
        found = []
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
        self._foreign &= set(pids)
        self._mine &= set(pids)
        for pid in pids:
            if pid in self._foreign:
                continue
            if pid in self._mine:
                found.append(pid)
                continue
            environment = read(pid, "environ")
            if self._mark in environment:
                self._mine.add(pid)
                found.append(pid)
            elif environment:
                self._foreign.add(pid)
        return found

    def agents(self) -> set[Agent]:
        """Main processes of agents: stand-ins that are no other stand-in's child in the making."""
        pids = [pid for pid in self.ours() if is_agent(read(pid, "cmdline"))]
        found = set()
        for pid in pids:
            fields = read(pid, "stat").rpartition(b")")[2].split()
            if len(fields) > 19 and fields[0] != b"Z" and int(fields[1]) not in pids:
                agent = self._agent(pid, int(fields[19]))
                if agent is not None:
                    found.add(agent)
        return found

    def _agent(self, pid: int, started: int) -> Agent | None:
        """Who it is does not change any more once it is an agent; None for one that is exiting.

        A process that exits has no memory left some time before it is a zombie: its environment
        reads as empty then.
        """
        if (pid, started) not in self._known:
            if not (environment := read(pid, "environ")):
                return None
            self._known[pid, started] = Agent(pid, started, marker_in(environment))
        return self._known[pid, started]

    def marked(self) -> dict[int, str]:
        """Every process with a marker, and which."""
        return {pid: run for pid in self.ours() if (run := marker(pid)) and not is_zombie(pid)}


def crowded(agents: set[Agent]) -> tuple[Agent, ...]:
    """Those of one name that is there more than once; empty where each is there once."""
    names = Counter(agent.name for agent in agents)
    return tuple(agent for agent in agents if names[agent.name] > 1)


def read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123 - a tenth of the cost
            return file.read()
    except OSError:
        return b""


def is_agent(command: bytes) -> bool:
    return STANDIN in command and b"--version" not in command


def is_zombie(pid: int) -> bool:
    return read(pid, "stat").rpartition(b")")[2].split()[:1] in ([b"Z"], [])


def marker(pid: int) -> str:
    return marker_in(read(pid, "environ"))


def marker_in(environment: bytes) -> str:
    """What `COCKPIT_RUN` is there; empty without it."""
    for variable in environment.split(b"\0"):
        if variable.startswith(b"COCKPIT_RUN="):
            return os.fsdecode(variable[12:])
    return ""


def lives(pid: int) -> bool:
    return not is_zombie(pid)


# What is written down

KEPT = {
    "seats": "name, wanted, job, session, run, pane, pid, started",
    "sessions": "id, number, previous, run, document, permission_mode, state",
    "handoffs": "id, record, ended is null, outcome, sha256, new_session",
}
"""What recovery must not change. Costs, tokens and events are left out: they grow."""


def rows(database: Path, sql: str) -> list[dict[str, Any]]:
    """What a query finds, read by a connection of our own."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as opened:
        opened.row_factory = sqlite3.Row
        return [dict(row) for row in opened.execute(sql)]


def kept(database: Path) -> dict[str, object]:
    """Every value that a second recovery must leave alone, by table, row and name."""
    return {
        f"{table} {number} {name}": value
        for table, names in KEPT.items()
        for number, row in enumerate(rows(database, f"select {names} from {table}"))
        for name, value in row.items()
    }


def standing(database: Path) -> str:
    """The state that the last handoff was written down in; empty before there is one."""
    found = rows(database, "select record from handoffs order by created desc limit 1")
    return str(json.loads(found[0]["record"])["state"]["is"]) if found else ""


def wait_dead(pid: int, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while lives(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True

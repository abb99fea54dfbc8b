"""A flight of the real CLI whose supervisor is killed in every phase of a handoff."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress

import pytest

from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.demo.flight import Flight, flight
from cockpit.demo.jobs import jobs_for
from cockpit.demo.summary import check
from cockpit.demo.watch import Watch
from cockpit.wire.status import Status

PHASES = ("Documenting", "Reviewing", "Stopping", "Starting", "Confirming")
SECONDS = 240.0
LOOK = 0.004


class Killer:
    """Kills the supervisor the first time that a handoff stands in each phase, and starts it."""

    def __init__(self, flown: Flight, say: Callable[[str], None]) -> None:
        self._flown, self._say = flown, say
        self.left = list(PHASES)
        self._killed, self._is_down = 0, False
        self._starts: list[subprocess.Popen[bytes]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._hunt)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _hunt(self) -> None:
        database = f"file:{self._flown.scratch.places.database}?mode=ro"
        with closing(sqlite3.connect(database, uri=True, timeout=5)) as opened:
            while self.left and not self._ended.wait(LOOK):
                phase = next((each for each in self._standing(opened) if each in self.left), None)
                if phase is not None:
                    self._kill(phase)
                self._start_again()
        for start in self._starts:
            start.wait(60)
        code = self._flown.run("--config", str(self._flown.scratch.config), "up", seconds=60)
        assert code == 0, "it did not come back"

    def _standing(self, opened: sqlite3.Connection) -> list[str]:
        found = opened.execute("select record from handoffs where ended is null").fetchall()
        return [json.loads(record)["state"]["is"] for (record,) in found]

    def _kill(self, phase: str) -> None:
        """Kill the supervisor, if one runs."""
        pid = int(self._flown.scratch.places.lease.read_text() or 0)
        if not pid or pid == self._killed:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self._killed, self._is_down = pid, True
            self.left.remove(phase)
            self._say(f"killed {pid} in {phase}")

    def _start_again(self) -> None:
        """Start it without waiting: what it does while it comes back may be the next phase."""
        if not self._is_down or (self._starts and self._starts[-1].poll() is None):
            return
        self._is_down = False
        words = ["--config", str(self._flown.scratch.config), "up"]
        self._starts.append(
            subprocess.Popen(
                [sys.executable, "-P", "-m", "cockpit", *words],
                cwd=self._flown.scratch.repository,
                env=self._flown.scratch.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        )


async def seen_through(flown: Flight, say: Callable[[str], None]) -> Status:
    """The flight's last status; between two supervisors nobody answers, and that is no end."""
    deadline = time.monotonic() + SECONDS
    while True:
        with suppress(NoSupervisor, OSError):
            return await Watch(flown.client, say, deadline - time.monotonic()).until_reached()
        assert time.monotonic() < deadline, "nobody answers any more"
        await asyncio.sleep(0.1)


@pytest.mark.long
@pytest.mark.claude
@pytest.mark.tmux
async def test_a_supervisor_that_dies_in_every_phase_loses_nothing() -> None:
    told: list[str] = []
    with flight(jobs_for(2), keep=False, say=told.append) as flown:
        await flown.start_agents()
        killer = Killer(flown, told.append)
        try:
            status = await seen_through(flown, told.append)
        except CockpitError as error:
            raise AssertionError("\n".join([str(error), *told])) from error
        finally:
            killer.close()
        assert killer.left == [], told
        check(status, flown.scratch.documents(), flown.jobs)
        assert [agent.session_number for agent in status.agents] == [2, 2], told
        assert [agent.handoffs for agent in status.agents] == [1, 1], told
    assert any("The agents run Claude Code" in line for line in told)

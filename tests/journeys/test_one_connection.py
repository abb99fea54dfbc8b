"""A screen's client and a real sshd: one login for everything, and what happens when it is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from cockpit.cli.commands import run
from cockpit.cli.host_clients import HostClients
from cockpit.client import http
from cockpit.client.http import HttpClient
from cockpit.config.hooks import Host
from cockpit.config.schema import Settings
from cockpit.core.errors import NoSuchAgent
from cockpit.core.far_names import LOCAL
from cockpit.tui.state.follow import follow
from cockpit.tui.state.model import Model
from cockpit.wire.stream import Resumed, Snapshot, WatchLine
from cockpit.wire.verbs import Send
from tests.journeys.sshd import Sshd, sshd

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

__all__ = ["sshd"]

pytestmark = pytest.mark.tmux

PATIENCE = 120.0
OLD = """#!/bin/sh
case "$*" in *--multiplex*) echo "Error: No such option '--multiplex'." >&2; exit 2;; esac
exec {program} "$@"
"""


class Screen:
    """What a screen holds of a host, without what it draws."""

    def __init__(self, flight: Flight, sshd: Sshd) -> None:
        here = HttpClient(flight.cockpit.home / "nobody.sock")
        host = Host(name="box", connect=tuple(sshd.ssh))
        self.hosts = HostClients(here, Settings(hosts=(host,)))
        self.client = self.hosts.client
        self.model = Model(host=LOCAL, others=["box"])
        self.shots: list[str] = []
        self.first_lines: list[type[WatchLine]] = []
        """What each stream of rows began with."""
        self._sshd = sshd
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def part(self) -> Any:
        return self.model.parts["box"]

    @property
    def logins(self) -> int:
        return self._sshd.log.read_text().count("Accepted publickey")

    async def look(self, name: str) -> None:
        with suppress(Exception):
            shots = self.client.screen(name)
            async with aclosing(cast("Any", shots)):
                async for shot in shots:
                    self.shots.append("\n".join(shot.lines))

    def begin(self, *also: Any) -> None:
        members, take = self.client.members, self.part.take

        def noted(line: WatchLine, now: float) -> None:
            if isinstance(line, Snapshot | Resumed):
                self.first_lines.append(type(line))
            take(line, now)

        self.part.take = noted
        work = [follow(members["box"], self.part), *also]
        self._tasks += [asyncio.create_task(each) for each in work]

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not true():
                await asyncio.sleep(0.02)

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self.hosts.close)


@pytest.fixture
def screen(flight: Flight, sshd: Sshd) -> Screen:
    """A host with one agent, which waits for a prompt."""
    agent = flight.cockpit.agent
    flight.fly(agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle", "api")
    return Screen(flight, sshd)


@asynccontextmanager
async def shown(screen: Screen) -> AsyncIterator[None]:
    """The rows, and the preview of the agent, as long as the block runs."""
    screen.begin(screen.look("box/api"))
    try:
        await screen.until(lambda: screen.part.connection.live and screen.shots)
        yield
    finally:
        await screen.end()


def is_ssh(pid: str) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() == "ssh"


def ssh_of_us() -> list[int]:
    """The ssh processes that this process started."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            pids = (task / "children").read_text().split()
            found += [int(pid) for pid in pids if is_ssh(pid)]
    return found


async def test_rows_events_a_preview_and_ten_questions_are_one_login(screen: Screen) -> None:
    async with shown(screen):
        for _ in range(10):
            assert await screen.client.facts("box/api")
        events, shots = len(screen.model.events), len(screen.shots)
        await screen.client.ask(Send(name="box/api", text="go on"))
        await screen.until(lambda: len(screen.model.events) > events)
        await screen.until(lambda: len(screen.shots) > shots)
        assert len(ssh_of_us()) == 1

    assert screen.logins == 1
    assert ssh_of_us() == []


def typed(sshd: Sshd, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a machine that has `box` as its only host."""
    here = sshd.folder / "here"
    here.mkdir(mode=0o700)
    text = f'[[hosts]]\nname = "box"\nconnect = {json.dumps(sshd.ssh)}\n'
    (here / "cockpit.toml").write_text(text)
    return subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", *words],
        env={**os.environ, "COCKPIT_HOME": str(here)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_the_history_of_all_hosts_is_one_login(
    screen: Screen,
    sshd: Sshd,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = ["--host", "box", "--directory", str(sshd.folder)]
    started = typed(sshd, "start", "second", *place, "--", "cat")
    assert started.returncode == 0, started.stderr
    before = screen.logins
    monkeypatch.setenv("COCKPIT_HOME", str(sshd.folder / "here"))
    monkeypatch.setattr(http, "PAGE_JOBS", 1)

    assert run(["history", "--all-hosts"]) == 0

    told = capsys.readouterr().out
    assert "box/api" in told
    assert "box/second" in told
    assert screen.logins == before + 1


@pytest.mark.long
def test_a_command_of_several_requests_is_one_login(screen: Screen, sshd: Sshd) -> None:
    done = typed(sshd, "forget", "nobody", "noone", "--host", "box")

    assert done.returncode == NoSuchAgent.exit_code, done.stderr
    assert "nobody" in done.stderr
    assert "noone" in done.stderr
    assert screen.logins == 1


@pytest.mark.long
async def test_a_connection_that_is_cut_heals_by_one_login(screen: Screen, sshd: Sshd) -> None:
    async with shown(screen):
        before = len(screen.model.events)
        sshd.end()
        await screen.until(lambda: not screen.part.connection.live)
        assert list(screen.model.agents) == ["box/api"]
        assert screen.model.is_lost("box/api")
        await screen.until(lambda: "Connection refused" in screen.part.connection.why)
        sshd.begin()
        await screen.until(lambda: screen.part.connection.live)
        assert await screen.client.facts("box/api")
        ids = [event.id for event in screen.model.events]
        assert before <= len(ids) == len(set(ids))
        assert screen.first_lines == [Snapshot, Resumed]

    assert screen.logins == 2


@pytest.mark.long
async def test_an_ssh_that_is_killed_is_begun_again(screen: Screen) -> None:
    async with shown(screen):
        (pid,) = ssh_of_us()
        whys: list[str] = []
        screen.model.listen(lambda *_: whys.append(screen.part.connection.why))
        os.kill(pid, signal.SIGKILL)
        await screen.until(lambda: any("signal 9" in why for why in whys))
        await screen.until(lambda: screen.part.connection.live)
        assert pid not in ssh_of_us()

    assert screen.logins == 2


@pytest.mark.long
async def test_an_older_host_works_with_a_login_for_each_request(
    screen: Screen, sshd: Sshd
) -> None:
    program = sshd.folder / "cockpit"
    newer = program.rename(sshd.folder / "newer")
    program.write_text(OLD.format(program=newer))
    program.chmod(0o755)

    async with shown(screen):
        for _ in range(3):
            assert await screen.client.facts("box/api")

    # One that was refused; the rows, the events before them, the preview, three questions.
    assert screen.logins == 7
    assert ssh_of_us() == []
    subprocess.run([*sshd.ssh, "cockpit", "status"], check=True, capture_output=True)

"""The supervisor's socket, removed or replaced while the supervisor runs."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from cockpit.core.errors import NoSupervisor
from cockpit.wire.stream import AgentChanged

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

PATIENCE = 120.0


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "cockpit", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)


async def answers(cockpit: Cockpit) -> int | None:
    """The pid of the supervisor, once it answers again."""
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(NoSupervisor):
            return (await cockpit.client.status()).supervisor.pid
        assert time.monotonic() < end, "it never answered again"
        await asyncio.sleep(0.05)


async def logged(cockpit: Cockpit, words: str) -> None:
    """Wait until the supervisor's log has the words."""
    end = time.monotonic() + PATIENCE
    log = cockpit.places.logs / "supervisor.log"
    while words not in (text := log.read_text()):
        assert time.monotonic() < end, f"never logged: {words}\n{text}"
        await asyncio.sleep(0.05)


def listen(path: Path) -> socket.socket:
    """A listener of this process at the path."""
    path.unlink(missing_ok=True)
    other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    other.bind(str(path))
    other.listen(64)
    return other


async def test_a_removed_socket_is_told_meanwhile_and_bound_again(cockpit: Cockpit) -> None:
    pid = await cockpit.launch("")
    path = cockpit.places.socket
    watching = cast("Any", cockpit.client.watch())
    await anext(watching)

    os.kill(pid, signal.SIGSTOP)  # so that it cannot be quicker than the commands below
    path.unlink()
    told, health = cli("status"), cli("doctor")
    assert told.returncode == 4
    assert f"A supervisor is running (pid {pid}) but not answering on its socket" in told.stderr
    assert f"kill {pid}" in told.stderr
    assert f"A supervisor is running (pid {pid})" in health.stdout + health.stderr
    refused = cli("down")
    assert refused.returncode == 5
    assert f"A supervisor is running (pid {pid}) but not answering" in refused.stderr
    os.kill(pid, signal.SIGCONT)

    up = cli("up")  # waits for it, and starts no second one
    assert (up.returncode, up.stdout) == (0, f"{pid}\n"), up.stderr
    assert await answers(cockpit) == pid
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    told_again = await cockpit.event("socket.bound_again")
    assert str(path) in told_again.text
    async for line in watching:  # a connection from before goes on
        if getattr(getattr(line, "event", None), "kind", "") == "socket.bound_again":
            break

    path.unlink()  # and a second time
    assert await answers(cockpit) == pid
    await watching.aclose()
    assert cli("down").returncode == 0
    assert cockpit.process is not None
    assert cockpit.process.wait(PATIENCE) == 0
    assert not path.exists()


@pytest.mark.long
async def test_a_regular_file_in_place_of_the_socket_is_replaced(cockpit: Cockpit) -> None:
    pid = await cockpit.launch("")
    cockpit.places.socket.unlink()
    cockpit.places.socket.write_text("not a socket\n")

    assert await answers(cockpit) == pid
    assert stat.S_ISSOCK(cockpit.places.socket.lstat().st_mode)
    assert cli("down").returncode == 0
    assert list(cockpit.places.runtime.glob("cockpit*")) == []


@pytest.mark.long
async def test_the_socket_of_another_process_is_left_until_it_ends(cockpit: Cockpit) -> None:
    pid = await cockpit.launch(cockpit.agent(mode="prompt", steps=1, step_tokens=100))
    await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    watching = cast("Any", cockpit.client.watch())
    await anext(watching)

    other = listen(cockpit.places.socket)
    mine = cockpit.places.socket.lstat()
    try:
        async with asyncio.timeout(PATIENCE):
            async for line in watching:
                needs = line.agent.needs if isinstance(line, AgentChanged) else None
                if needs is not None and "the supervisor's socket is unreachable" in needs.detail:
                    assert f"kill {os.getpid()}" in needs.detail
                    break
        assert os.path.samestat(mine, cockpit.places.socket.lstat())
    finally:
        other.close()

    assert await answers(cockpit) == pid
    await cockpit.until(lambda row: row.needs is None)
    await watching.aclose()
    assert cli("down", "--agents").returncode == 0


async def test_the_end_leaves_the_socket_of_another_process(cockpit: Cockpit) -> None:
    pid = await cockpit.launch("")
    other = listen(cockpit.places.socket)
    try:
        os.kill(pid, signal.SIGTERM)
        assert cockpit.process is not None
        assert cockpit.process.wait(PATIENCE) == 0
        assert cockpit.places.socket.exists()
    finally:
        other.close()


async def test_no_socket_is_bound_where_a_link_leads_elsewhere(cockpit: Cockpit) -> None:
    pid = await cockpit.launch("")
    runtime, aside, elsewhere = (
        cockpit.places.runtime,
        cockpit.places.runtime.with_name("aside"),
        cockpit.home / "elsewhere",
    )
    elsewhere.mkdir()
    runtime.rename(aside)
    runtime.symlink_to(elsewhere)
    await logged(cockpit, "is a symbolic link")
    assert list(elsewhere.iterdir()) == []

    runtime.unlink()
    aside.rename(runtime)
    assert await answers(cockpit) == pid
    assert cli("down").returncode == 0


async def test_a_removed_folder_is_made_again(cockpit: Cockpit) -> None:
    pid = await cockpit.launch("")
    aside = cockpit.places.runtime.with_name("aside")
    cockpit.places.runtime.rename(aside)

    assert await answers(cockpit) == pid
    assert stat.S_IMODE(cockpit.places.runtime.lstat().st_mode) == 0o700
    (aside / "tmux.sock").rename(cockpit.places.tmux_socket)
    assert cli("down", "--agents").returncode == 0

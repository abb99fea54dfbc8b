"""A host by a command: every way in which it can fail has its reason, and nothing is left of it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.http import HttpClient
from cockpit.client.raw_request import fetch, lines
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError, NoSupervisor, ProgramMissing
from cockpit.core.ids import agent_name
from cockpit.supervisor.main import take_lock

BANNER = r"printf 'Welcome \033[31mto\033[0m gpu1\nhave a nice day\n'; exec sleep 60"


def shell(script: str) -> RemoteHost:
    """A host whose every command runs this instead."""
    return RemoteHost("gpu1", ["sh", "-c", script, "gpu1"])


def by_fetch(host: RemoteHost) -> CockpitError:
    with pytest.raises(CockpitError) as caught:
        fetch(host, "/v1/status", patience=5)
    return caught.value


def by_client(host: RemoteHost) -> CockpitError:
    with pytest.raises(CockpitError) as caught:
        asyncio.run(HttpClient(host).status())
    return caught.value


def by_stream(host: RemoteHost) -> CockpitError:
    kept = KeptHost(host)
    try:
        with pytest.raises(CockpitError) as caught:
            fetch(kept, "/v1/status", patience=5)
    finally:
        kept.close()
    return caught.value


EACH = pytest.mark.parametrize("why", [by_fetch, by_client, by_stream])


@EACH
@pytest.mark.parametrize(
    ("script", "title", "detail"),
    [
        (
            "echo 'ssh: connect to host gpu1 port 22: Connection refused' >&2; exit 255",
            "Cannot reach host gpu1",
            "ssh: connect to host gpu1 port 22: Connection refused",
        ),
        ("exit 255", "Cannot reach host gpu1", "sh exited with code 255."),
        ("kill -9 $$", "Cannot reach host gpu1", "sh was killed by signal 9."),
        ("exec cockpit-that-is-not-there", "cockpit was not found on gpu1", "not found"),
        ("exit 0", "Lost connection to the supervisor on gpu1", "The connection ended."),
        (BANNER, "Host gpu1 did not answer like a supervisor", "'Welcome to gpu1"),
        (r"printf 'a\033]0;title\007\nb' >&2; exit 1", "Cannot reach host gpu1", "a\nb"),
    ],
)
def test_a_host_that_fails_has_a_reason(
    why: Callable[[RemoteHost], CockpitError], script: str, title: str, detail: str
) -> None:
    error = why(shell(script))

    assert isinstance(error, NoSupervisor)
    assert error.title == title
    assert detail in error.detail
    assert "\x1b" not in str(error)
    assert error.hint


@EACH
def test_a_host_without_a_supervisor_says_how_to_start_one(
    why: Callable[[RemoteHost], CockpitError], connect: Any, own_home: Path
) -> None:
    error = why(RemoteHost("gpu1", connect(own_home / "ck")))

    assert (error.title, error.exit_code) == ("No supervisor is running on gpu1", 4)
    assert "Nothing listens on" in error.detail
    assert error.hint.endswith("cockpit up")


@EACH
def test_a_host_whose_supervisor_lost_its_socket_is_not_told_to_start_one(
    why: Callable[[RemoteHost], CockpitError], connect: Any, own_home: Path
) -> None:
    places = Places.of({"COCKPIT_HOME": str(own_home / "ck")})
    places.make()
    with take_lock(places.lease):
        error = why(RemoteHost("gpu1", connect(own_home / "ck")))

    assert isinstance(error, NoSupervisor)
    assert error.title.startswith(f"gpu1: A supervisor is running (pid {os.getpid()})")
    assert "will be recreated in seconds" in error.detail
    assert "doctor" in error.hint


@EACH
def test_a_command_that_is_not_on_this_machine(why: Callable[[RemoteHost], CockpitError]) -> None:
    error = why(RemoteHost("gpu1", ["no-such-ssh", "gpu1"]))

    assert isinstance(error, ProgramMissing)
    assert "no-such-ssh" in error.title


def test_a_host_that_hangs_is_given_up_in_time(own_home: Path) -> None:
    pid = own_home / "pid"
    host = shell(f"echo $$ > {pid}; echo 'waiting for gpu1' >&2; exec sleep 60")

    with pytest.raises(NoSupervisor, match="does not answer\nwaiting for gpu1"):
        fetch(host, "/v1/status", patience=0.5)

    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


async def test_a_stream_that_dies_without_a_word_is_given_up() -> None:
    # The line is up as far as anybody can tell; nothing comes any more.
    snapshot = r'{"type": "snapshot", "status": {}}'
    host = shell(rf"printf 'HTTP/1.1 200 OK\r\n\r\n%s\n' '{snapshot}'; exec sleep 60")
    client = HttpClient(host, "gpu1", beat=1)
    seen: list[Any] = []

    with pytest.raises(NoSupervisor, match=r"Host gpu1 does not answer\nNo data in 3 s\."):
        seen.extend([line async for line in client.watch()])
    with pytest.raises(NoSupervisor, match="does not answer"):
        seen.extend(lines(host, "/v1/watch?beat=1", silence=0.3))

    assert len(seen) == 1


@pytest.mark.skipif(not shutil.which("ssh"), reason="there is no ssh")
def test_what_ssh_says_and_how_it_is_given_a_terminal(own_home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer here
        port = str(taken.getsockname()[1])
        ssh = ["ssh", "-F", "/dev/null", "-p", port, "127.0.0.1"]
        error = by_fetch(RemoteHost("gpu1", ssh))

    assert isinstance(error, NoSupervisor)
    assert error.title == "Cannot reach host gpu1"
    assert "Connection refused" in error.detail

    program, *words = RemoteHost("gpu1", ssh).attach_command(agent_name("api"))
    read = subprocess.run([program, "-G", *words], capture_output=True, text=True, check=True)
    assert "requesttty true" in read.stdout.splitlines()


def test_nobody_is_asked_for_a_password(own_home: Path) -> None:
    """Not in a window of its own either, nor does ssh try passwords that nobody has typed."""
    programs = own_home / "bin"
    programs.mkdir()
    (programs / "ssh").write_text('#!/bin/sh\necho "$SSH_ASKPASS_REQUIRE: $*" >&2; exit 255\n')
    (programs / "ssh").chmod(0o755)

    error = by_fetch(RemoteHost("gpu1", [str(programs / "ssh"), "-p", "9", "g"]))

    assert error.detail == "never: -oBatchMode=yes -p 9 g cockpit dial-stdio"
    assert error.hint.endswith("ssh -p 9 g cockpit status")
    assert by_fetch(shell("echo $SSH_ASKPASS_REQUIRE >&2; exit 9")).detail == "never"


def test_one_that_ignores_the_end_is_ended_with_what_it_began(own_home: Path) -> None:
    note = own_home / "pids"
    host = shell(f"trap '' TERM; sleep 61 & echo $$ $! > {note}; while :; do wait; done")
    line = host.dial()
    try:
        end = time.monotonic() + 60
        while not (note.exists() and len(note.read_text().split()) == 2):
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        line.end()
        line.end()

    gone = time.monotonic() + 60
    while any(_runs(int(pid)) for pid in note.read_text().split()):
        assert time.monotonic() < gone
        time.sleep(0.01)


def test_nothing_is_left_of_a_line(connect: Any, answering: Any, own_home: Path) -> None:
    answering.say("GET /v1/status", b"{}")
    host = RemoteHost("gpu1", connect(own_home / "ck"))
    before = sorted(Path("/proc/self/fd").iterdir()), _children()

    for _ in range(3):
        assert fetch(host, "/v1/status") == b"{}"

    assert sorted(Path("/proc/self/fd").iterdir()) == before[0]
    assert _children() <= before[1]


def _children() -> set[str]:
    """Ours, those too that have ended and that nobody waited for."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}


def test_a_stream_that_is_left_is_hung_up(answering: Any, connect: Any, own_home: Path) -> None:
    before = _children()
    line = RemoteHost("gpu1", connect(own_home / "ck")).dial()
    assert _children() - before

    line.end()

    assert _children() <= before


def test_a_screen_that_is_killed_takes_its_line_along(own_home: Path) -> None:
    note = own_home / "pid"
    program = (
        "from cockpit.adapters.remote_host import RemoteHost\n"
        f"line = RemoteHost('gpu1', ['sh', '-c', 'echo $$ > {note}; exec cat', 'x']).dial()\n"
        f"import os, signal, time, pathlib\n"
        f"while not (p := pathlib.Path({str(note)!r})).exists() or not p.read_text(): "
        "time.sleep(0.01)\n"
        f"os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    )

    os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", program])

    gone = time.monotonic() + 60
    while _runs(int(note.read_text())):
        assert time.monotonic() < gone
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("host", "argv"),
    [
        (RemoteHost("g", ["ssh", "g"]), ["ssh", "-t", "g", "cockpit", "attach", "api", "--aside"]),
        (
            RemoteHost("g", ["/usr/bin/ssh", "-p", "9", "g", "nice"]),
            ["/usr/bin/ssh", "-t", "-p", "9", "g", "nice", "cockpit", "attach", "api", "--aside"],
        ),
        (RemoteHost("g", ["env", "A=b"]), ["env", "A=b", "cockpit", "attach", "api", "--aside"]),
        (
            RemoteHost("g", ["docker", "exec", "-i", "g"], ["docker", "exec", "-it", "g"]),
            ["docker", "exec", "-it", "g", "cockpit", "attach", "api", "--aside"],
        ),
    ],
)
def test_a_pane_there_is_shown_in_a_terminal_there(host: RemoteHost, argv: list[str]) -> None:
    assert host.attach_command(agent_name("api")) == argv


def _runs(pid: int) -> bool:
    """Whether it is there, and not merely unburied."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"

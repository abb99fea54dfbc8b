"""The screen through a real sshd and a real mosh, and a host that is reached through ssh."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.demo.leftovers import carriers
from tests.journeys.conftest import COCKPIT
from tests.journeys.sshd import Sshd, program, sshd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.journeys.conftest import Flight, Terminal

__all__ = ["sshd"]

pytestmark = pytest.mark.tmux

WEB = '[[agents]]\nname = "web"\nruntime = "command"\ncommand = ["cat"]\n'


@pytest.fixture
def fleet(flight: Flight, sshd: Sshd) -> Flight:
    """Two agents that wait for a prompt."""
    agent = flight.cockpit.agent
    flight.fly(
        agent("able", "observe", pause=2, step_tokens=1000),
        agent("api", "prompt", pause=2, step_tokens=1000),
        defaults='[notifications]\nterminal = "osc777"\non = ["needs_you"]\n',
    )
    flight.start("able", "api")
    for name in ("able", "api"):
        flight.until(lambda row: row.state == "idle", name)
    return flight


def clients(flight: Flight) -> list[str]:
    """The terminals that the host's tmux knows."""
    ask = ["tmux", "-S", str(flight.cockpit.places.tmux_socket), "list-clients"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()


def there_and_back(terminal: Terminal, row: str = "▌ 2 api") -> None:
    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", "? for shortcuts", gone=("▌",))
    terminal.press("F12")
    terminal.until(row, "q quit", gone=("F12 back",))


def test_a_connection_is_lost_and_only_the_connection(fleet: Flight, sshd: Sshd) -> None:
    reach = [*sshd.ssh[:1], "-t", *sshd.ssh[1:], "cockpit"]
    terminal = fleet.through(["env", "TERM=xterm-of-tomorrow", *reach])
    terminal.until("▌ 1 able", "q quit")
    terminal.press("j")
    terminal.until("▌ 2 api", "── api ")
    there_and_back(terminal)
    terminal.resize(70, 20)
    terminal.until("▌ 2 api", "q quit")
    pid = fleet.row().pid

    os.kill(int(terminal.ask("display-message", "-p", "#{pane_pid}")), signal.SIGKILL)
    fleet.wait_for(lambda: not clients(fleet))
    again = fleet.through(reach)
    again.until("▌ 2 api", "── api ", "q quit")
    sshd.cut()
    fleet.wait_for(lambda: not clients(fleet))

    third = fleet.through(reach)
    third.until("▌ 2 api", "── api ", "q quit")
    there_and_back(third)
    assert fleet.row().pid == pid


@pytest.mark.long
def test_mosh_shows_it_and_stays_for_a_client_that_roams(fleet: Flight, sshd: Sshd) -> None:
    program("mosh-server")
    ssh = f"ssh -F {sshd.folder / 'config'}"
    reach = [program("mosh"), "--experimental-remote-ip=remote", f"--ssh={ssh}", "127.0.0.1"]
    terminal = fleet.through([*reach, "--", "cockpit"], LC_ALL="C.UTF-8")
    terminal.until("▌ 1 able", "q quit")
    terminal.press("j")
    terminal.until("▌ 2 api")
    there_and_back(terminal)
    assert b"48;5;" in terminal.written()  # over SSH, the screen is in `low`
    terminal.resize(70, 20)
    terminal.until("▌ 2 api", "q quit")

    terminal.press("f")
    terminal.until("y hand off")
    terminal.press("y")
    fleet.phase("review")
    title = ["display-message", "-p", "#{pane_title}"]
    fleet.wait_for(lambda: terminal.ask(*title).strip() == "[mosh] 1 needs you - cockpit")
    fleet.wait_for(lambda: b"\x07" in terminal.written().replace(b"cockpit\x07", b""))
    assert b"777;" not in terminal.written()  # it lets no message through; the bell it does

    for client in named(fleet, b"mosh-client"):
        os.kill(client, signal.SIGKILL)
    line = fleet.through([*sshd.ssh[:1], "-t", *sshd.ssh[1:], "cockpit"])
    line.until("▌ 1 api", "◆ review", "q quit")
    there_and_back(line, "▌ 1 api")
    assert len(clients(fleet)) == 2  # it may come back, from wherever it is then
    for server in named(fleet, b"mosh-server"):
        os.kill(server, signal.SIGTERM)
    fleet.wait_for(lambda: len(clients(fleet)) == 1)


def named(flight: Flight, name: bytes) -> list[int]:
    """The processes of this test that run a program of that name."""
    found = []
    for pid in carriers(flight.cockpit.home):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_bytes().strip() == name:
                found.append(pid)
    assert found, name
    return found


@pytest.fixture
def here(own_home: Path, sshd: Sshd) -> Iterator[Path]:
    """A cockpit that knows the one that flies as `box`, and as `locked` where it has no key."""
    home = own_home / "here"
    home.mkdir(mode=0o700)
    locked = [*sshd.ssh[:-1], "-oPubkeyAuthentication=no", sshd.ssh[-1]]
    strange = [*sshd.ssh[:-1], "-oUserKnownHostsFile=/dev/null", sshd.ssh[-1]]
    hosts = {"box": sshd.ssh, "locked": locked, "strange": strange}
    tables = [
        f'[[hosts]]\nname = "{name}"\nconnect = {json.dumps(connect)}\n'
        for name, connect in hosts.items()
    ]
    (home / "cockpit.toml").write_text("".join([*tables, WEB]))
    environment = {**os.environ, "COCKPIT_HOME": str(home)}
    run = {"cwd": own_home, "env": environment, "check": True, "capture_output": True}
    subprocess.run([*COCKPIT, "start", "web"], **run)  # type: ignore[call-overload]
    yield home
    subprocess.run([*COCKPIT, "down", "--agents"], **run)  # type: ignore[call-overload]


@pytest.mark.long
def test_a_host_over_ssh_is_lost_and_regained(fleet: Flight, sshd: Sshd, here: Path) -> None:
    asked = here / "asked"
    asking = here / "askpass"
    asking.write_text(f"#!/bin/sh\necho yes >> {asked}\n")
    asking.chmod(0o755)
    terminal = fleet.terminal(
        size=(140, 30), COCKPIT_HOME=str(here), DISPLAY=":9", SSH_ASKPASS=str(asking)
    )
    terminal.until("box ●", "locked ○ lost", "strange ○ lost", " 1 web", " 3 box/api")
    terminal.press("1")  # the cursor stays on a row of box if box answered first
    terminal.until("▌ 1 web")
    terminal.press("i")
    terminal.until("Permission denied", "Host key verification failed")
    terminal.press("q")
    terminal.until("▌ 1 web")
    terminal.press("3")
    terminal.until("▌ 3 box/api")
    terminal.press("Enter")
    terminal.until("? for shortcuts", "F12 back", gone=("▌", "Connecting"))
    terminal.press("F12")
    terminal.until("▌ 3 box/api")

    sshd.end()
    terminal.until("box ○ lost", "Connection refused", "▌ 3 ~ box/api")
    terminal.press("Enter")
    terminal.until("Connection refused", "F12 back", gone=("▌",))
    terminal.press("F12")
    terminal.until("▌ 3 ~ box/api")
    sshd.begin()
    terminal.until("box ●", "▌ 3 box/api", gone=("~ box/api",))

    assert not asked.exists()
    assert "Failed password" not in sshd.log.read_text()
    # The screen, the pane, and the screen again after the interruption.
    assert sshd.log.read_text().count("Accepted publickey") == 3

"""Many real machines on one screen: added, used, cut, killed, of an older version, rebooted.

`COCKPIT_TEST_HOSTS=10` makes it ten machines; fewer leave time for the other tests. Each is a real
sshd with a key, a home, a supervisor and a tmux server of its own.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.cli.commands import run
from cockpit.client.http import HttpClient
from cockpit.config.paths import Places
from cockpit.demo.leftovers import end_leftovers
from cockpit.wire.status import AgentStatus, Status
from tests.journeys.conftest import COCKPIT, Terminal, wait_for
from tests.journeys.sshd import SEPARATION, Sshd, program

pytestmark = [pytest.mark.long, pytest.mark.tmux]

LEAST = 4
"""One for each kind of trouble."""
COUNT = max(LEAST, int(os.environ.get("COCKPIT_TEST_HOSTS", LEAST)))
ON_A_BUSY_MACHINE = ("--timeout", "100")
AGENT = """\
[[agents]]
name = "first"
runtime = "command"
command = ["sh", "-c", "echo at work; exec cat"]
"""
PROGRAM = '#!/bin/sh\nexec {python} -P -m cockpit "$@"\n'
OLDER = """\
#!/bin/sh
case "$*" in
*--multiplex*) echo "Error: No such option '--multiplex'." >&2; exit 2;;
--version) echo "cockpit 0.9.0"; exit 0;;
esac
exec {python} -P -m cockpit "$@"
"""


class Machine:
    """A machine of its own: what runs there has this folder in its environment, and nothing else.

    Its user has configured one agent, and cockpit is on the PATH.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder
        self.home = folder / "home"
        self._program = folder / "bin" / "cockpit"
        for path in (folder, self.home, folder / "run", folder / "door", folder / "bin"):
            path.mkdir(mode=0o700)
        configuration = self.home / ".config" / "cockpit"
        configuration.mkdir(parents=True)
        (configuration / "cockpit.toml").write_text(AGENT)
        self.install(PROGRAM)
        self.sshd = Sshd(
            folder / "door",
            {
                "HOME": str(self.home),
                "XDG_RUNTIME_DIR": str(folder / "run"),
                "PATH": f"{folder}/bin:{os.environ['PATH']}",
            },
        )
        self.sshd.begin()

    def install(self, script: str) -> None:
        self._program.write_text(script.format(python=shlex.quote(sys.executable)))
        self._program.chmod(0o755)

    def status(self) -> Status:
        environment = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.folder / "run")}
        return asyncio.run(HttpClient(Places.of(environment).socket).status())

    def agent(self) -> AgentStatus:
        (row,) = self.status().agents
        return row

    def end_all(self) -> None:
        """Everything that runs there ends at once, as in a reboot. Twice is the same as once."""
        self.sshd.end()
        end_leftovers(self.home)
        end_leftovers(self.folder)


@pytest.fixture
def machines(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Machine]]:
    """So many machines, none of which is known here yet."""
    program("sshd")
    program("ssh")
    if os.getuid() == 0 and not SEPARATION.is_dir():
        pytest.skip(f"sshd needs {SEPARATION}: mkdir {SEPARATION}, as `CI=1 make programs` does")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)
    made: list[Machine] = []
    try:
        for number in range(COUNT):
            made += [Machine(own_home / f"m{number}", f"m{number}")]
        yield made
    finally:
        run(["down", "--agents"])
        for machine in made:
            machine.end_all()


@pytest.fixture
def screen(machines: list[Machine], own_home: Path) -> Iterator[Terminal]:
    """A terminal in which nothing runs yet."""
    terminal = Terminal(own_home, (40 + 16 * COUNT, 20 + 2 * COUNT))
    yield terminal
    terminal.close()


class Watched:
    """The screen, on which each machine has a light at the top and a row."""

    def __init__(self, terminal: Terminal, machines: list[Machine]) -> None:
        self._terminal = terminal
        self._machines = machines

    def all_answer(self, *words: str) -> str:
        """Wait until no machine is lost, and every row is there."""
        lights = " · ".join(["local ●", *(f"{each.name} ●" for each in self._machines)])
        return self._terminal.until(lights, *self._rows(), *words, gone=("lost", "~"))

    def is_lost(self, lost: Machine, why: str) -> str:
        """Wait until one machine is lost, and no other; its row stays, and says why."""
        others = [f"{each.name} ●" for each in self._machines if each is not lost]
        rows = [row for row in self._rows() if row != f"{lost.name}/first"]
        picture = self._terminal.until(
            "local ●", f"{lost.name} ○ lost", f"~ {lost.name}/first", *others, *rows
        )
        self._terminal.press(str(1 + self._machines.index(lost)))
        return picture + self._terminal.until(f"~ {lost.name}/first", why)

    def _rows(self) -> list[str]:
        return [f"{each.name}/first" for each in self._machines]


def unwrapped(picture: str) -> str:
    """What is seen as one line: where a message is wrapped depends on the number of machines."""
    return " ".join(picture.replace("▌", " ").split())


def up_again(machine: Machine) -> None:
    """Start its supervisor from here: a command that becomes ssh, so not in this process."""
    subprocess.run([*COCKPIT, "up", "--host", machine.name], check=True, capture_output=True)


@pytest.mark.timeout(900)
def test_each_machine_has_its_own_troubles_and_the_screen_keeps_every_row(
    machines: list[Machine],
    screen: Terminal,
    own_home: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for machine in machines:
        assert run(["hosts", "add", machine.name, *machine.sshd.ssh]) == 0, capfd.readouterr()
        words = ["--host", machine.name, "--directory", str(machine.home)]
        assert run(["start", "first", *words]) == 0, capfd.readouterr()
    screen.run(at=own_home)
    watched = Watched(screen, machines)
    watched.all_answer("working")
    pids = {each.name: each.agent().pid for each in machines}
    cut, killed, older, rebooted = machines[:LEAST]

    cut.sshd.end()
    watched.is_lost(cut, "Connection refused")
    cut.sshd.begin()
    watched.all_answer()

    supervisor = killed.status().supervisor.pid
    assert supervisor is not None
    os.kill(supervisor, signal.SIGKILL)
    watched.is_lost(killed, f"No supervisor is running on {killed.name}")
    up_again(killed)
    watched.all_answer()

    older.install(OLDER)
    older.sshd.cut()
    upgrade = f"Upgrade it (agents keep running): cockpit hosts install {older.name}"
    wait_for(lambda: upgrade in unwrapped(screen.seen()), screen.seen)
    watched.all_answer()

    rebooted.end_all()
    watched.is_lost(rebooted, "Connection refused")
    rebooted.sshd.begin()
    watched.is_lost(rebooted, f"No supervisor is running on {rebooted.name}")
    up_again(rebooted)
    watched.all_answer()
    assert rebooted.agent().pid is None

    now = {each.name: each.agent().pid for each in machines if each is not rebooted}
    assert now == {name: pid for name, pid in pids.items() if name in now}
    capfd.readouterr()
    assert run(["hosts", "check", *ON_A_BUSY_MACHINE]) == 0
    assert run(["hosts", *ON_A_BUSY_MACHINE]) == 0
    listed = capfd.readouterr().out
    assert [each.name for each in machines if f"{each.name}  up " not in listed] == [], listed

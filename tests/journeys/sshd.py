"""A real sshd on loopback, for the test's own user and nobody else; it changes nothing outside."""

from __future__ import annotations

import os
import pwd
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

REMEDY = "Debian: apt-get install openssh-server openssh-client mosh, as `CI=1 make programs` does"
SEPARATION = Path("/run/sshd")
"""What sshd insists on where root starts it."""
CONFIGURATION = """\
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
KbdInteractiveAuthentication no
SetEnv {environment}
"""
CLIENT = """\
Host 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
"""


def program(name: str) -> str:
    """Where it is; the test is skipped with a remedy if it is nowhere."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"there is no {name}. {REMEDY}")
    return found


def free_port() -> int:
    """A port that nobody listens on, below those that the kernel gives to clients.

    One of the others may be taken while sshd is not listening, even by a connection to itself: a
    client that tries the port again and again is given it as its own at some time.
    """
    for port in random.sample(range(10_000, 32_000), 1000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


class Sshd:
    """A listener that can be ended and begun again; `ssh` reaches it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.ssh = [program("ssh"), "-F", str(folder / "config"), "127.0.0.1"]
        self.log = folder / "log"
        self._program = program("sshd")
        self._process: subprocess.Popen[bytes] | None = None
        for key in ("host", "user"):
            file = str(folder / key)
            subprocess.run(["ssh-keygen", "-qt", "ed25519", "-N", "", "-f", file], check=True)
        self._port = free_port()
        kind, key, _ = (folder / "host.pub").read_text().split(" ")
        (folder / "known").write_text(f"[127.0.0.1]:{self._port} {kind} {key}\n")
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in environment.items())
        facts = {"port": self._port, "folder": folder, "environment": given}
        (folder / "sshd_config").write_text(CONFIGURATION.format(**facts))
        user = pwd.getpwuid(os.getuid()).pw_name
        (folder / "config").write_text(CLIENT.format(**facts, user=user))

    def begin(self) -> None:
        words = ["-D", "-f", str(self.folder / "sshd_config"), "-E", str(self.log)]
        self._process = subprocess.Popen([self._program, *words], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            with suppress(OSError), socket.create_connection(self._address, 60) as connection:
                if connection.recv(4) == b"SSH-":
                    return
            assert self._process.poll() is None, self.log.read_text()
            assert time.monotonic() < end
            time.sleep(0.02)

    @property
    def _address(self) -> tuple[str, int]:
        return "127.0.0.1", self._port

    def cut(self) -> None:
        """Every connection is gone, without a word."""
        for pid in self._connections():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Nobody listens any more, and every connection is gone. Twice is the same as once."""
        if self._process is None:
            return
        # Stopped first, so that nobody is let in behind the back of this.
        self._process.send_signal(signal.SIGSTOP)
        self.cut()
        self._process.kill()
        self._process.wait(60)
        self._process = None

    def _connections(self) -> list[int]:
        assert self._process is not None
        pid = self._process.pid
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def sshd(own_home: Path) -> Iterator[Sshd]:
    """A machine to reach, which has this cockpit and this test's `COCKPIT_HOME`."""
    program("sshd")
    if os.getuid() == 0 and not SEPARATION.is_dir():
        pytest.skip(f"sshd needs {SEPARATION}: mkdir {SEPARATION}, as `CI=1 make programs` does")
    folder = own_home / "sshd"
    folder.mkdir(mode=0o700)
    script = folder / "cockpit"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m cockpit "$@"\n')
    script.chmod(0o755)
    kept = {name: os.environ[name] for name in ("HOME", "COCKPIT_HOME", "XDG_RUNTIME_DIR")}
    door = Sshd(folder, {**kept, "PATH": f"{folder}:{os.environ['PATH']}"})
    door.begin()
    yield door
    door.end()

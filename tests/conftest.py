"""What every test stands on: a home of its own, nothing ambient, and nobody left behind."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_FOREIGN = ("CLAUDE", "ANTHROPIC", "TMUX", "COCKPIT_", "GIT_", "NO_COLOR", "FORCE_COLOR", "XDG_")
_GRACE_SECONDS = 3.0
_GITCONFIG = "[user]\n\tname = Pilot\n\temail = pilot@example.com\n[init]\n\tdefaultBranch = main\n"


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a short path (sockets!) that holds HOME, XDG and `COCKPIT_HOME`.

    When the test is over, a process that still carries it in its environment is ended, and
    the test fails by its name.
    """
    home = Path(tempfile.mkdtemp(prefix="ck"))
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        monkeypatch.delenv(name)
    for name, folder in {
        "HOME": "home",
        "XDG_CONFIG_HOME": "config",
        "XDG_STATE_HOME": "state",
        "XDG_RUNTIME_DIR": "run",
        "XDG_DATA_HOME": "data",
        "XDG_CACHE_HOME": "cache",
        "COCKPIT_HOME": "ck",
    }.items():
        (home / folder).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(home / folder))
    (home / "home" / ".gitconfig").write_text(_GITCONFIG)
    yield home
    left = _still_running(home)
    shutil.rmtree(home, ignore_errors=True)
    assert not left, f"the test left running: {left}"


def _still_running(home: Path) -> list[str]:
    """Command lines of the processes that outlived the test; they are ended."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while (carriers := _carriers(home)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in carriers:
        _end(pid)
    return list(carriers.values())


def _carriers(home: Path) -> dict[int, str]:
    mark = os.fsencode(home)
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = command.decode(errors="replace").strip()
        except OSError:
            continue  # it ended while we looked, or it is not ours to read
    found.pop(os.getpid(), None)
    return found


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return

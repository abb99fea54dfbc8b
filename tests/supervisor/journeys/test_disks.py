"""A full state disk and a read-only worktree are *needs you*, and the reason is on the terminal."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.adapters.files.writable import obstacle
from cockpit.config.paths import Places
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Start
from tests.supervisor.journeys.small_disk import SmallDisk, small_disk

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

AGENT: dict[str, Any] = {"mode": "prompt", "steps": 1, "step_tokens": 100}


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "cockpit", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def disk(own_home: Path) -> Iterator[SmallDisk]:
    try:
        with small_disk(own_home / "disk") as mounted:
            yield mounted
    except OSError as refused:
        pytest.skip(f"only root can mount a disk: {refused}")


def told(words: str) -> Callable[[AgentStatus], bool]:
    return lambda row: row.needs is not None and words in row.needs.detail


@pytest.mark.long
async def test_a_directory_that_becomes_read_only_needs_you(
    cockpit: Cockpit, disk: SmallDisk
) -> None:
    cockpit.repository = disk.place
    await cockpit.launch(cockpit.agent(**AGENT))
    await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    disk.read_only(on=True)
    row = await cockpit.until(told("mounted read-only"))
    assert row.state == "needs_you"
    assert row.needs is not None
    assert str(disk.place) in row.needs.detail
    assert "Mount the file system writable" in row.needs.detail
    assert "mounted read-only" in cli("status").stdout
    disk.read_only(on=False)
    await cockpit.until(lambda row: row.needs is None)
    cockpit.end_everybody()


@pytest.mark.long
async def test_a_state_that_takes_no_write_needs_you(cockpit: Cockpit) -> None:
    """The kernel refuses every write of the supervisor's process, as a quota does."""

    pid = await cockpit.launch(cockpit.agent(**AGENT))
    await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    await cockpit.refused(Start(name="two", directory=str(cockpit.repository)))
    row = await cockpit.until(told("cannot write its state"))
    assert row.needs is not None
    assert "df -h" in row.needs.detail
    assert "cannot write its state" in cli("status").stderr
    assert (await cockpit.client.status()).supervisor.trouble
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    await cockpit.until(lambda row: row.needs is None)
    assert (await cockpit.client.status()).supervisor.trouble is None


def test_up_on_a_full_disk_tells_the_reason_on_the_terminal(
    own_home: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCKPIT_HOME", str(disk.place / "ck"))
    monkeypatch.chdir(own_home)
    Places.of(os.environ).make()
    disk.fill()
    refused = cli("up")
    assert refused.returncode == 1
    assert "No space left" in refused.stderr or "full" in refused.stderr
    assert "df -h" in refused.stderr
    assert "Traceback" not in refused.stderr
    disk.clear()
    assert cli("up").returncode == 0
    assert cli("down", "--agents").returncode == 0


def test_what_can_be_written_has_no_obstacle(tmp_path: Path) -> None:
    assert obstacle(tmp_path) is None
    assert obstacle(tmp_path / "none") is None

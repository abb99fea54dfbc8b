"""`cockpit start --host any` between two real supervisors, and hosts that cannot be chosen."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.sshd import Sshd, sshd
from tests.supervisor.journeys.test_move import COCKPIT, LONG, Far, far

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

__all__ = ["far", "sshd"]

pytestmark = pytest.mark.tmux

DEAD = ["sh", "-c", "echo 'port 22: Connection refused' >&2; exit 255"]
OTHER_PATHS = """\
#!/bin/sh
case "$*" in *--multiplex*) echo "No such option: --multiplex" >&2; exit 2;; esac
sed 's#/repository"#/nowhere"#g' | {python} -P -m cockpit "$@"
"""
"""The cockpit of a machine on which the repository is not at that path."""


async def started(near: Cockpit, *words: str, cwd: Path | None = None) -> tuple[int, str]:
    """Run `cockpit start --host any` to its end: the exit code, and what it said."""
    process = await asyncio.to_thread(
        subprocess.run,
        [*COCKPIT, "start", *words, "--host", "any"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ),
        cwd=cwd or near.repository,
        timeout=LONG,
    )
    return process.returncode, process.stdout.decode()


def configure_hosts(near: Cockpit, **hosts: list[str]) -> None:
    text = "".join(
        f"[[hosts]]\nname = {json.dumps(name)}\nconnect = {json.dumps(connect)}\n"
        for name, connect in hosts.items()
    )
    near.places.user_file.write_text(text)
    near.places.user_file.chmod(0o600)


def without_repository(far: Far) -> list[str]:
    folder = far.near.home / "other-paths"
    folder.mkdir()
    script = folder / "cockpit"
    script.write_text(OTHER_PATHS.format(python=sys.executable))
    script.chmod(0o755)
    return [*far.connect, "env", f"PATH={folder}:{os.environ['PATH']}"]


@pytest.mark.long
async def test_the_machine_with_the_fewest_agents_is_chosen(cockpit: Cockpit, far: Far) -> None:
    await cockpit.launch(cockpit.agent(steps=2, step_tokens=9000))
    await far.launch()
    await cockpit.start()
    await cockpit.until(lambda row: row.pid is not None)
    configure_hosts(cockpit, gpu1=far.connect, gpu2=without_repository(far), gpu3=DEAD)

    code, told = await started(cockpit, "fix", "--dry-run")
    assert code == 0, told
    lines = told.splitlines()
    assert lines[0].startswith("Chose gpu1: 0 running agents on "), told
    assert lines[1].startswith("  local: more running agents per core (1 running agent on "), told
    nowhere = cockpit.repository.with_name("nowhere")
    assert lines[2:] == [
        f"  gpu2: no repository at {nowhere}",
        "  gpu3: port 22: Connection refused",
    ]
    assert await far.rows() == []

    code, told = await started(cockpit, "fix", "--prompt", "Count the steps.")
    assert code == 0, told
    (row,) = await far.rows()
    assert (row.name, row.directory) == ("fix", str(cockpit.repository))
    assert [one.name for one in (await cockpit.client.status()).agents] == ["api"]

    for name, where in (("fix", "gpu1"), ("api", "this machine")):
        code, told = await started(cockpit, name)
        assert code != 0
        assert f"{where} already has an agent {name}" in told
    assert len(await far.rows()) == 1


@pytest.mark.long
async def test_the_choice_and_the_start_log_in_once(cockpit: Cockpit, far: Far, sshd: Sshd) -> None:
    await cockpit.launch(cockpit.agent(steps=2, step_tokens=9000))
    await far.launch()
    await cockpit.start()
    await cockpit.until(lambda row: row.pid is not None)
    configure_hosts(cockpit, gpu1=[*sshd.ssh, "env", f"COCKPIT_HOME={far.home}"])

    code, told = await started(cockpit, "fix", "--prompt", "Count the steps.")

    assert code == 0, told
    assert [row.name for row in await far.rows()] == ["fix"]
    assert sshd.log.read_text().count("Accepted publickey") == 1


@pytest.mark.long
async def test_every_machine_is_named_if_none_fits(cockpit: Cockpit, far: Far) -> None:
    await cockpit.launch(cockpit.agent())
    configure_hosts(cockpit, gpu1=far.connect, gpu3=DEAD)

    code, told = await started(cockpit, "fix", "--dry-run", "--runtime", "nonsense")
    assert code == 1, told
    assert "No machine can start fix" in told
    assert "local: " in told
    assert "nonsense" in told
    assert "gpu1: no supervisor is running" in told
    assert "-> Start the supervisor: cockpit up --host gpu1" in told
    assert "gpu3: port 22: Connection refused" in told

    code, told = await started(cockpit, "fix", "--directory", str(cockpit.home / "missing"))
    assert code == 1, told
    assert f"local: no directory {cockpit.home / 'missing'}" in told
    assert [one.name for one in (await cockpit.client.status()).agents] == ["api"]


async def test_another_repository_at_the_path_is_refused(cockpit: Cockpit, far: Far) -> None:
    await cockpit.launch(cockpit.agent())
    await far.launch()
    nowhere = cockpit.repository.with_name("nowhere")
    nowhere.mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], cwd=nowhere, check=True)
    configure_hosts(cockpit, gpu2=without_repository(far))

    code, told = await started(cockpit, "fix", "--dry-run")
    assert code == 0, told
    assert "Chose local: " in told
    assert f"gpu2: {nowhere} is another repository" in told

"""Every command on the page about the API works as it is written there."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff
from tests.supervisor.api.web import gateway

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PAGE = Path(__file__).parent.parent.parent.parent / "cockpit" / "docs" / "api.md"
CURLRC = 'silent\nshow-error\nfail-with-body\nmax-time = "60"\n'


def commands() -> list[str]:
    """Each line of the page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line]


def has_curl() -> bool:
    if shutil.which("curl") is None:
        return False
    said = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False)
    major, minor = said.stdout.split()[1].split(".")[:2]
    return (int(major), int(minor)) >= (7, 82)


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


class Shell:
    """Runs what the page says, against this supervisor and this gateway."""

    def __init__(self, cockpit: Cockpit, base: str, token: str) -> None:
        self._cockpit, self._base = cockpit, base
        (cockpit.home / ".curlrc").write_text(CURLRC)
        program = cockpit.home / "bin" / "cockpit"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m cockpit "$@"\n')
        program.chmod(0o700)
        self._environment = {**os.environ, "CURL_HOME": str(cockpit.home), "TOKEN": token}

    async def run(self, command: str) -> str:
        """What it prints; of a stream, the beginning."""
        script = f'socket="$(cockpit api socket)"\n{command}'
        process = await asyncio.create_subprocess_exec(
            "sh", "-euc", script.replace("http://127.0.0.1:8000", self._base),
            cwd=self._cockpit.repository, env=self._environment, start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdout is not None
        if " -N " in command:
            begun = await process.stdout.read(100)
            os.killpg(process.pid, signal.SIGTERM)
            await process.wait()
            return begun.decode()
        printed = (await process.stdout.read()).decode()
        assert await process.wait() == 0, f"{command}\n{printed}"
        return printed


@pytest.mark.long
@pytest.mark.tmux
@pytest.mark.skipif(not has_curl(), reason="there is no curl 7.82")
async def test_each_command_does_what_the_page_says(cockpit: Cockpit) -> None:
    left = commands()

    def taken(part: str) -> list[str]:
        found = [command for command in left if part in command]
        left[:] = [command for command in left if part not in command]
        return found

    (start,), (approve,), sends = taken("/v1/start"), taken("/v1/approve"), taken("/v1/send")
    assert sum("curl" in command for command in left) >= 8
    async with (
        cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)),
        gateway(cockpit.places.socket) as (base, token),
        asyncio.timeout(200),
    ):
        shell = Shell(cockpit, base, token)
        assert json.loads(await shell.run(start))["name"] == "api"
        await cockpit.until(lambda row: row.state == "idle")
        for command in left:
            assert await shell.run(command) or "socket=" in command, command

        await cockpit.ask(Handoff(name="api"))
        handoff = (await cockpit.until(reviewed)).handoff
        assert handoff is not None
        assert handoff.document is not None
        written = (cockpit.repository / handoff.document).read_bytes()
        await shell.run(approve.replace("…", hashlib.sha256(written).hexdigest()))
        await cockpit.until(lambda row: row.handoffs == 1 and row.state in ("idle", "done"))
        for command in sends:
            assert json.loads(await shell.run(command))["message"]


@pytest.mark.tmux
@pytest.mark.skipif(not has_curl(), reason="there is no curl 7.82")
async def test_a_failure_looks_as_on_the_page(cockpit: Cockpit) -> None:
    shown = re.search(r"^```json\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert shown is not None
    async with (
        cockpit.flying(cockpit.agent()),
        gateway(cockpit.places.socket) as (base, token),
        asyncio.timeout(120),
    ):
        failing = """curl --unix-socket "$socket" http://cockpit/v1/send --json '{"name": "api"}'"""
        printed = await Shell(cockpit, base, token).run(f"{failing} 2>&- || [ $? = 22 ]")
        assert json.loads(printed) == json.loads(shown[1])

"""A bare session of the real Claude Code: listed, adopted with `cockpit adopt`, and goes on."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.client.raw_request import fetch
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Load, Send
from tests.journeys.real_agent import NO_CLI, SECONDS, real_agent, say

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]


def test_a_bare_session_becomes_an_agent_with_its_conversation() -> None:
    told: list[list[str]] = []

    def answer(request: Request) -> Reply:
        if request.has_tools:
            told.append(json.dumps(request.messages).split("WORD-")[1:])
        return say("Noted.", tokens=60_000)

    with real_agent(answer) as api:
        flown = api.flown
        socket = str(flown.scratch.folder / "user.tmux")

        def tmux(*words: str) -> str:
            command = ["tmux", "-S", socket, "-f", "/dev/null", *words]
            return subprocess.run(command, capture_output=True, text=True, check=False).stdout

        def listed() -> list[ElsewhereSession]:
            status = json.loads(fetch(flown.scratch.places.socket, "/v1/status?elsewhere=1"))
            return [ElsewhereSession.model_validate(each) for each in status["elsewhere"]]

        async def until(true: Callable[[], object]) -> None:
            end = asyncio.get_running_loop().time() + SECONDS
            while not true():
                assert asyncio.get_running_loop().time() < end, tmux("capture-pane", "-p")
                await asyncio.sleep(0.2)

        async def journey() -> None:
            await flown.client.ask(Load(config=str(flown.scratch.config), named=True))
            defaults = tomllib.loads(flown.scratch.config.read_text())["defaults"]
            env = flown.scratch.environment() | defaults["env"]
            pairs = [f"{name}={value}" for name, value in env.items()]
            bare = shlex.join(
                ["env", "-i", *pairs, "claude", "--model", "claude-sonnet-4-6", "Keep WORD-one."]
            )
            place = str(flown.scratch.repository)
            command = ["sh", "-c", f"{bare}; exec cat"]
            tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", place, *command)
            await until(lambda: [row.status for row in listed()] == ["idle"] and told)
            await until(lambda: listed()[0].context.tokens)
            (found,) = listed()
            assert (found.directory, found.kind) == (place, "interactive")
            assert (found.model, found.context.confidence) == ("claude-sonnet-4-6", "assumed")
            assert Path(str(found.transcript)).is_file()

            # The CLI's own list says the same; cockpit reads the notes, as a command takes seconds.
            program = str(flown.scratch.folder / "bin" / "claude")
            said = await asyncio.to_thread(
                subprocess.run, [program, "agents", "--json"], env=env, capture_output=True,
                check=True,
            )  # fmt: skip
            (theirs,) = json.loads(said.stdout)
            assert (theirs["pid"], theirs["sessionId"]) == (found.pid, found.session_id)
            assert (theirs["cwd"], theirs["status"]) == (found.directory, found.status)

            short = found.session_id[:8]
            code = await asyncio.to_thread(flown.run, "adopt", short, "--name", "mine", "--yes")
            assert code == 0
            assert not Path(f"/proc/{found.pid}/cwd").exists()
            await until(lambda: "cockpit attach mine" in tmux("capture-pane", "-p"))
            assert f"--resume {found.session_id}" in tmux("capture-pane", "-p")
            assert listed() == []
            while True:
                rows = {row.name: row for row in (await flown.client.status()).agents}
                if rows["mine"].state in {"idle", "done"}:
                    break
                await asyncio.sleep(0.2)
            mine = rows["mine"]
            assert (mine.session_id, mine.transcript) == (found.session_id, found.transcript)
            assert (mine.mode, mine.goal) == ("prompt", "Keep WORD-one.")
            # A resumed session counts as idle from its record, before its CLI takes a paste.
            ours = ["tmux", "-S", str(flown.scratch.places.tmux_socket)]
            shown = [*ours, "capture-pane", "-p", "-t", str(mine.pane)]
            await until(
                lambda: (
                    "Noted."
                    in subprocess.run(shown, capture_output=True, text=True, check=False).stdout
                )
            )
            await flown.client.ask(Send(name="mine", text="And WORD-two?"))
            await until(lambda: any(len(words) >= 2 for words in told))

        try:
            asyncio.run(journey())
        finally:
            tmux("kill-server")

"""A bare session of the real Claude Code in the middle of a turn: watched, documented, adopted."""

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
from cockpit.core import document
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Load, Send
from tests.journeys.real_agent import DOCUMENT, NO_CLI, SECONDS, call, real_agent, say

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.long,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]

COMMAND = "tail -n 7 -f /dev/null"


def sleeping() -> list[str]:
    found = subprocess.run(["pgrep", "-fx", COMMAND], capture_output=True, text=True, check=False)
    return found.stdout.split()


def test_a_bare_session_is_watched_documented_and_adopted_in_a_turn() -> None:
    told: list[str] = []

    def answer(request: Request) -> Reply:
        messages = json.dumps(request.messages)
        if "Answer with the document itself" in messages:
            return say(DOCUMENT, tokens=146_000)
        if not request.has_tools:
            return say("A title")
        told.append(messages)
        return say("Noted.") if request.calls_made else call("Bash", 60_000, command=COMMAND)

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

        async def adopt(*words: str) -> None:
            assert await asyncio.to_thread(flown.run, "adopt", *words) == 0

        async def journey() -> None:
            await flown.client.ask(Load(config=str(flown.scratch.config), named=True))
            defaults = tomllib.loads(flown.scratch.config.read_text())["defaults"]
            env = flown.scratch.environment() | defaults["env"]
            pairs = [f"{name}={value}" for name, value in env.items()]
            options = [
                "--model",
                "claude-sonnet-4-6",
                "--permission-mode=acceptEdits",
                "--allowed-tools=Bash",
            ]
            bare = shlex.join(["env", "-i", *pairs, "claude", *options, "Keep WORD-one."])
            place = flown.scratch.repository
            command = ["sh", "-c", f"{bare}; exec cat"]
            tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", str(place), *command)
            await until(lambda: sleeping() and [row for row in listed() if row.context.tokens])
            (found,) = listed()
            assert found.status == "busy"
            short = found.session_id[:8]

            await adopt(short, "--watch", "--document")
            assert listed()[0].watched
            (path,) = (place / ".cockpit" / "handoffs").glob("handoff-*.md")
            left = document.read(path.read_text())
            assert left.front is not None
            assert (left.front.old_session_id, left.front.writer) == (found.session_id, "sdk")
            assert [(row.pid, row.status) for row in listed()] == [(found.pid, "busy")]
            assert sleeping()

            await adopt(short, "--name", "mine", "--yes")
            assert not Path(f"/proc/{found.pid}/cwd").exists()
            assert sleeping() == []
            await until(lambda: "cockpit attach mine" in tmux("capture-pane", "-p"))
            assert listed() == []
            mine = next(row for row in (await flown.client.status()).agents if row.name == "mine")
            assert (mine.session_id, mine.transcript) == (found.session_id, found.transcript)
            ours = ["tmux", "-S", str(flown.scratch.places.tmux_socket)]
            shown = [*ours, "capture-pane", "-p", "-t", str(mine.pane)]

            def screen() -> str:
                return subprocess.run(shown, capture_output=True, text=True, check=False).stdout

            await until(lambda: "Keep WORD-one." in screen())
            await flown.client.ask(Send(name="mine", text="And WORD-two?"))
            await until(lambda: any("WORD-one" in each and "WORD-two" in each for each in told))

        try:
            asyncio.run(journey())
        finally:
            tmux("kill-server")

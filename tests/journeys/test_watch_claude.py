"""A bare session of the real Claude Code: watched and documented with `cockpit adopt`, and left as
it is."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cockpit.client.raw_request import fetch
from cockpit.core import document
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Load
from tests.journeys.real_agent import DOCUMENT, NO_CLI, SECONDS, real_agent, say

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]

TOKENS = {"WORD-one": 60_000, "WORD-two": 145_000}


def conversation(screen: str) -> str:
    """What is in the terminal, without the line above the input and the lines below, which the CLI
    changes by itself: it shows hints there for some seconds."""
    lines = screen.splitlines()
    above, below = (number for number, line in enumerate(lines) if line.startswith("────"))
    return "\n".join([*lines[: above - 1], *lines[above : below + 1]]).rstrip()


def test_a_bare_session_is_watched_and_a_copy_writes_its_document() -> None:
    copied: list[Request] = []

    def answer(request: Request) -> Reply:
        told = json.dumps(request.messages)
        if "Answer with the document itself" in told:
            copied.append(request)
            return say(DOCUMENT, tokens=146_000)
        return say("Noted.", tokens=max(many for word, many in TOKENS.items() if word in told))

    with real_agent(answer) as api:
        flown = api.flown
        socket = str(flown.scratch.folder / "user.tmux")

        def tmux(*words: str) -> str:
            command = ["tmux", "-S", socket, "-f", "/dev/null", *words]
            return subprocess.run(command, capture_output=True, text=True, check=False).stdout

        def listed() -> list[ElsewhereSession]:
            status = json.loads(fetch(flown.scratch.places.socket, "/v1/status?elsewhere=1"))
            return [ElsewhereSession.model_validate(each) for each in status["elsewhere"]]

        def crossings() -> list[dict[str, Any]]:
            lines = fetch(flown.scratch.places.socket, "/v1/events?limit=2000").splitlines()
            events = [json.loads(line) for line in lines if line.strip()]
            return [each for each in events if each["kind"] == "elsewhere.crossed"]

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
            bare = shlex.join(
                ["env", "-i", *pairs, "claude", "--model", "claude-sonnet-4-6", "Keep WORD-one."]
            )
            place = flown.scratch.repository
            command = ["sh", "-c", f"{bare}; exec cat"]
            tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", str(place), *command)
            await until(lambda: [row for row in listed() if row.context.tokens])
            (found,) = listed()
            short = found.session_id[:8]
            await adopt(short, "--watch")
            assert listed()[0].watched
            await until(lambda: [row.status for row in listed()] == ["idle"])
            tmux("send-keys", "-l", "And WORD-two?")
            await until(lambda: "And WORD-two?" in tmux("capture-pane", "-p"))
            tmux("send-keys", "Enter")
            await until(crossings)
            (told,) = crossings()
            assert told["data"]["session"] == found.session_id
            assert told["data"]["tokens"] >= TOKENS["WORD-two"]

            await until(lambda: [row.status for row in listed()] == ["idle"])
            shown = conversation(tmux("capture-pane", "-p"))
            record = Path(str(found.transcript)).read_bytes()
            await adopt(short, "--document")
            (path,) = (place / ".cockpit" / "handoffs").glob("handoff-*.md")
            left = document.read(path.read_text())
            assert left.goal == "Keep WORD-one."
            assert left.front is not None
            assert (left.front.old_session_id, left.front.writer) == (found.session_id, "sdk")
            assert "Start the server again" in left.sections["Next Steps"]
            (asked,) = copied
            assert "WORD-two" in json.dumps(asked.messages)
            assert not asked.has_tools

            # The session is as it was, and its user's terminal too.
            assert Path(str(found.transcript)).read_bytes() == record
            assert conversation(tmux("capture-pane", "-p")) == shown
            assert [(row.pid, row.session_id) for row in listed()] == [
                (found.pid, found.session_id)
            ]
            await adopt(short, "--unwatch")
            assert not listed()[0].watched

        try:
            asyncio.run(journey())
        finally:
            tmux("kill-server")

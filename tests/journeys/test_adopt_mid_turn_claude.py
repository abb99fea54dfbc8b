"""A bare session of the real Claude Code in the middle of a turn: watched, documented, adopted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cockpit.core import document
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.verbs import Send
from tests.journeys.bare_session import bare_session
from tests.journeys.real_agent import DOCUMENT, NO_CLI, call, real_agent, say

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


async def test_a_bare_session_is_watched_documented_and_adopted_in_a_turn() -> None:
    told: list[str] = []

    def answer(request: Request) -> Reply:
        messages = json.dumps(request.messages)
        if "Answer with the document itself" in messages:
            return say(DOCUMENT, tokens=146_000)
        if not request.has_tools:
            return say("A title")
        told.append(messages)
        return say("Noted.") if request.calls_made else call("Bash", 60_000, command=COMMAND)

    with real_agent(answer) as api, bare_session(api.flown) as bare:
        flown = api.flown

        place = flown.scratch.repository
        await bare.start("--permission-mode=acceptEdits", "--allowed-tools=Bash")
        await bare.until(
            lambda: sleeping() and [row for row in bare.listed() if row.context.tokens]
        )
        (found,) = bare.listed()
        assert found.status == "busy"
        short = found.session_id[:8]

        await bare.adopt(short, "--watch", "--document")
        assert bare.listed()[0].watched
        (path,) = (place / ".cockpit" / "handoffs").glob("handoff-*.md")
        left = document.read(path.read_text())
        assert left.front is not None
        assert (left.front.old_session_id, left.front.writer) == (found.session_id, "sdk")
        assert [(row.pid, row.status) for row in bare.listed()] == [(found.pid, "busy")]
        assert sleeping()

        await bare.adopt(short, "--name", "mine", "--yes")
        assert not Path(f"/proc/{found.pid}/cwd").exists()
        assert sleeping() == []
        await bare.until(lambda: "cockpit attach mine" in bare.screen())
        assert bare.listed() == []
        mine = next(row for row in (await flown.client.status()).agents if row.name == "mine")
        assert (mine.session_id, mine.transcript) == (found.session_id, found.transcript)
        await bare.until(lambda: "Keep WORD-one." in bare.adopted_screen(mine.pane))
        await flown.client.ask(Send(name="mine", text="And WORD-two?"))
        await bare.until(lambda: any("WORD-one" in each and "WORD-two" in each for each in told))

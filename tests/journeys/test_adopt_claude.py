"""A bare session of the real Claude Code: listed, adopted with `cockpit adopt`, and goes on."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from cockpit.demo.conversation import Reply, Request
from cockpit.wire.verbs import Send
from tests.journeys.bare_session import bare_session
from tests.journeys.real_agent import NO_CLI, real_agent, say

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]


async def test_a_bare_session_becomes_an_agent_with_its_conversation() -> None:
    told: list[list[str]] = []

    def answer(request: Request) -> Reply:
        if request.has_tools:
            told.append(json.dumps(request.messages).split("WORD-")[1:])
        return say("Noted.", tokens=60_000)

    with real_agent(answer) as api, bare_session(api.flown) as bare:
        flown = api.flown

        place = flown.scratch.repository
        await bare.start()
        await bare.until(lambda: [row.status for row in bare.listed()] == ["idle"] and told)
        await bare.until(lambda: bare.listed()[0].context.tokens)
        (found,) = bare.listed()
        assert (found.directory, found.kind) == (str(place), "interactive")
        assert (found.model, found.context.confidence) == ("claude-sonnet-4-6", "assumed")
        assert Path(str(found.transcript)).is_file()

        # The CLI's own list says the same; cockpit reads the notes, as a command takes seconds.
        program = str(flown.scratch.folder / "bin" / "claude")
        said = await asyncio.to_thread(
            subprocess.run, [program, "agents", "--json"], env=bare.environment,
            capture_output=True, check=True,
        )  # fmt: skip
        (theirs,) = json.loads(said.stdout)
        assert (theirs["pid"], theirs["sessionId"]) == (found.pid, found.session_id)
        assert (theirs["cwd"], theirs["status"]) == (found.directory, found.status)

        short = found.session_id[:8]
        await bare.adopt(short, "--name", "mine", "--yes")
        assert not Path(f"/proc/{found.pid}/cwd").exists()
        await bare.until(lambda: "cockpit attach mine" in bare.screen())
        assert f"--resume {found.session_id}" in bare.screen()
        assert bare.listed() == []
        while True:
            rows = {row.name: row for row in (await flown.client.status()).agents}
            if rows["mine"].state in {"idle", "done"}:
                break
            await asyncio.sleep(0.2)
        mine = rows["mine"]
        assert (mine.session_id, mine.transcript) == (found.session_id, found.transcript)
        assert (mine.mode, mine.goal) == ("prompt", "Keep WORD-one.")
        # A resumed session counts as idle from its record, before its CLI takes a paste.
        await bare.until(lambda: "Noted." in bare.adopted_screen(mine.pane))
        await flown.client.ask(Send(name="mine", text="And WORD-two?"))
        await bare.until(lambda: any(len(words) >= 2 for words in told))

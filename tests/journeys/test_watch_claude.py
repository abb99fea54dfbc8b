"""A bare session of the real Claude Code: watched and documented with `cockpit adopt`, and left as
it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cockpit.client.raw_request import fetch
from cockpit.core import document
from cockpit.demo.conversation import Reply, Request
from tests.journeys.bare_session import bare_session
from tests.journeys.real_agent import DOCUMENT, NO_CLI, real_agent, say

pytestmark = [
    pytest.mark.long,
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


async def test_a_bare_session_is_watched_and_a_copy_writes_its_document() -> None:
    copied: list[Request] = []

    def answer(request: Request) -> Reply:
        told = json.dumps(request.messages)
        if "Answer with the document itself" in told:
            copied.append(request)
            return say(DOCUMENT, tokens=146_000)
        return say("Noted.", tokens=max(many for word, many in TOKENS.items() if word in told))

    with real_agent(answer) as api, bare_session(api.flown) as bare:
        flown = api.flown

        def crossings() -> list[dict[str, Any]]:
            lines = fetch(flown.scratch.places.socket, "/v1/events?limit=2000").splitlines()
            events = [json.loads(line) for line in lines if line.strip()]
            return [each for each in events if each["kind"] == "elsewhere.crossed"]

        place = flown.scratch.repository
        await bare.start()
        await bare.until(lambda: [row for row in bare.listed() if row.context.tokens])
        (found,) = bare.listed()
        short = found.session_id[:8]
        await bare.adopt(short, "--watch")
        assert bare.listed()[0].watched
        await bare.until(lambda: [row.status for row in bare.listed()] == ["idle"])
        bare.tmux("send-keys", "-l", "And WORD-two?")
        await bare.until(lambda: "And WORD-two?" in bare.screen())
        bare.tmux("send-keys", "Enter")
        await bare.until(crossings)
        (told,) = crossings()
        assert told["data"]["session"] == found.session_id
        assert told["data"]["tokens"] >= TOKENS["WORD-two"]

        await bare.until(lambda: [row.status for row in bare.listed()] == ["idle"])
        shown = conversation(bare.screen())
        record = Path(str(found.transcript)).read_bytes()
        await bare.adopt(short, "--document")
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
        assert conversation(bare.screen()) == shown
        assert [(row.pid, row.session_id) for row in bare.listed()] == [
            (found.pid, found.session_id)
        ]
        await bare.adopt(short, "--unwatch")
        assert not bare.listed()[0].watched

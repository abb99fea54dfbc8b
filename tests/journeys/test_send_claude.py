"""Sending a prompt into the real Claude Code: it arrives whole, as one, as it was."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.record import parse
from cockpit.core.session import Skipped, UserSaid
from cockpit.demo.conversation import Reply, Request, TokenCount
from cockpit.demo.flight import flight
from cockpit.demo.jobs import jobs_for
from cockpit.demo.model import ModelServer
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Send

pytestmark = [pytest.mark.claude, pytest.mark.tmux]
SECONDS = 180.0

LINES = "\n".join(
    f"{number}: the quick brown fox, $(touch x) `y` ü 漢字 🚀" for number in range(210)
)
PROMPTS = (
    "one line",
    "first\nsecond\n\n\tindented; ends in a semicolon;",
    "#{pane_id} #(touch z) 'q' \"q\" \\n --help",
    LINES,
)


@pytest.mark.long
async def test_what_is_sent_arrives_as_it_was_and_is_confirmed() -> None:
    assert len(LINES.encode()) > 10_000
    with (
        flight(jobs_for(1), keep=False, say=lambda _: None) as flown,
        ModelServer(answered) as model,
    ):
        assert flown.scratch.real, flown.scratch.cli
        client, config = flown.client, flown.scratch.config
        # Another model than the flight's: one that has nothing to do, and so never fills.
        config.write_text(re.sub(r"http://127.0.0.1:\d+", model.url, config.read_text()))

        async def until(true: Callable[[AgentStatus], object]) -> AgentStatus:
            end = asyncio.get_running_loop().time() + SECONDS
            while True:
                (found,) = (await client.status()).agents
                if true(found):
                    return found
                told = (found, prompts(Path(str(found.transcript)))[-2:])
                assert asyncio.get_running_loop().time() < end, told
                await asyncio.sleep(0.1)

        await flown.start_agents()
        for prompt in PROMPTS:
            agent = await until(lambda row: row.state in {"idle", "done"} and row.transcript)
            done = await client.ask(Send(name=agent.name, text=prompt))
            assert "accepted the prompt" in done.message
            times = partial(arrived, prompt, Path(str(agent.transcript)))
            await until(lambda _, times=times: times())  # type: ignore[misc]
            assert times() == 1
        assert not list(flown.scratch.repository.rglob("[xyz]"))


def answered(_request: Request) -> Reply:
    return Reply("Done.", tokens=TokenCount(cache_read=5_000))


def arrived(prompt: str, transcript: Path) -> int:
    """How often it was said; the CLI writes a tab as spaces."""
    wanted = prompt.replace("\t", "    ")
    return prompts(transcript).count(wanted)


def prompts(transcript: Path) -> list[str]:
    """What was said to the model by somebody, as a session's record is read."""
    found: list[str] = []
    for line in transcript.read_bytes().splitlines() if transcript.exists() else []:
        events = parse(line)
        if not isinstance(events, Skipped):
            found += [event.text for event in events if isinstance(event, UserSaid)]
    return found

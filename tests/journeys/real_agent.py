"""One agent that is the real Claude Code, under the real supervisor; the test plays its model."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.flight import Flight, land, take_off
from cockpit.demo.jobs import jobs_for
from cockpit.demo.model import Answer, ModelServer
from cockpit.demo.scratch import make_scratch
from cockpit.wire.status import AgentStatus
from cockpit.wire.stream import Event
from tests.journeys.short_session import SHORT_SESSION
from tests.supervisor.conftest import pause

SECONDS = 300.0
NO_CLI = bundled_path() is None
DOCUMENT = """\
# Handoff

## Current Task

Watch the server.

## Progress

### Completed

The server was started and answers.

### In Progress

None.

### Pending

Look at its log once an hour, and write down what it says about slow requests.

## Current State

Everything is as it was: no file was changed in this session, and none had to be.

## Next Steps

1. Run `git status`.
2. Start the server again and look at its log.

## Key Decisions

The server runs in the background, so that the session can go on beside it.

## What Did Not Work

None.

## Open Issues

None.

## Background Work

The development server, started with npm.
"""


class RealAgent:
    """The agent's row, its events, and what its model was told."""

    def __init__(self, flown: Flight, model: ModelServer, name: str) -> None:
        self.flown = flown
        self.model = model
        self.name = name

    async def start(self) -> None:
        await self.flown.start_agents()

    async def row(self) -> AgentStatus:
        (found,) = (await self.flown.client.status()).agents
        return found

    async def until(self, true: Callable[[AgentStatus], object]) -> AgentStatus:
        """The row once the condition holds of it."""
        begun = time.monotonic()
        while not true(row := await self.row()):
            if time.monotonic() > begun + SECONDS:
                told = "\n".join(f"{each.kind}: {each.text}" for each in await self.events())
                raise AssertionError(f"it never came true of {row!r}\n{told}")
            await asyncio.sleep(pause(begun))
        return row

    async def events(self, kind: str = "") -> list[Event]:
        told = await self.flown.client.events(limit=2000)
        return [each for each in told if each.kind == kind] if kind else told


@contextmanager
def real_agent(answer: Answer, **settings: str) -> Iterator[RealAgent]:
    """Nothing runs yet. `settings` are values of the configuration, as TOML, by their names.

    cockpit's tools are not offered: their server takes a second of processor time for each session.
    `test_claude_tools` and the demo's flight have them.
    """
    jobs = jobs_for(1)
    with ModelServer(answer) as model:
        scratch = make_scratch(jobs, model.url)
        flown = Flight(scratch, jobs, lambda _: None, time.monotonic())
        try:
            assert scratch.real, scratch.cli
            text = scratch.config.read_text()
            for name, value in settings.items():
                lines = text.splitlines()
                assert any(line.startswith(f"{name} = ") for line in lines), name
                given = f"{name} = {value}"
                text = "\n".join(given if line.startswith(f"{name} = ") else line for line in lines)
            assert "mcp = " not in text
            text = text.replace("[defaults]\n", "[defaults]\nmcp = false\n", 1)
            quick = "".join(f"{name} = {json.dumps(it)}, " for name, it in SHORT_SESSION.items())
            assert "\nenv = { " in text
            scratch.config.write_text(text.replace("\nenv = { ", f"\nenv = {{ {quick}", 1))
            take_off(flown)
            yield RealAgent(flown, model, next(iter(jobs)))
        finally:
            land(flown, keep=False)


def call(tool: str, tokens: int = 20_000, **given: object) -> Reply:
    """A reply that calls one tool."""
    return Reply(tool_calls=(ToolCall(tool, given),), tokens=TokenCount(cache_read=tokens))


def say(text: str, tokens: int = 20_000) -> Reply:
    """A reply that ends the turn."""
    return Reply(text, tokens=TokenCount(cache_read=tokens))


def write_document(request: Request, tokens: int = 20_000) -> Reply | None:
    """The document, where it is asked for and not written; a successor reads its own first."""
    if request.document_asked is not None:
        return call("Write", tokens, file_path=request.document_asked, content=DOCUMENT)
    if request.documents_named and not request.replies_made:
        return call("Read", tokens, file_path=request.documents_named[-1])
    return None

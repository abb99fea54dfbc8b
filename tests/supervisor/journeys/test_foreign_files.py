"""Paths that one agent can name hold up neither the other agents nor the next `up`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Continue, Start
from tests.supervisor.journeys.hanging_mount import hanging_mount

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

PAIR: dict[str, Any] = {"mode": "observe", "steps": 5000, "step_tokens": 10, "pace": 0.1}
HANGS = "only root can mount a file system that hangs"


def has_reading(row: AgentStatus) -> object:
    return row.context.tokens


def tells(words: str) -> Callable[[AgentStatus], bool]:
    return lambda row: row.needs is not None and words in row.needs.detail


async def goes_on(cockpit: Cockpit, name: str) -> None:
    """The agent's reading grows still."""
    before = (await cockpit.until(has_reading, name)).context.tokens or 0
    await cockpit.until(lambda row: (row.context.tokens or 0) > before, name)


async def launched(cockpit: Cockpit) -> AgentStatus:
    await cockpit.launch(cockpit.agent("api", **PAIR), cockpit.agent("web", **PAIR))
    await cockpit.start("api")
    await cockpit.start("web")
    await cockpit.until(has_reading, "web")
    return await cockpit.until(has_reading, "api")


FORGED = "6a1f4f3e-2f0b-4b5e-9c7d-3f9d2a7c5b10"
"""A session id of the CLI's own form: any other is not taken from a hook."""


def forge(cockpit: Cockpit, transcript: Path) -> None:
    """Leave a report as the agent's own hook would: its session goes on in another record."""
    report = {
        "hook_event_name": "SessionStart",
        "session_id": FORGED,
        "source": "clear",
        "transcript_path": str(transcript),
    }
    folder = cockpit.places.spool / "api"
    (folder / ".new").write_text(json.dumps(report))
    (folder / ".new").rename(folder / "1-SessionStart.json")


async def test_a_pipe_in_place_of_a_transcript_is_told_and_holds_up_nobody(
    cockpit: Cockpit,
) -> None:
    first = await launched(cockpit)
    pipe = cockpit.home / "pipe"
    os.mkfifo(pipe)
    pipe.replace(first.transcript or "")
    told = await cockpit.until(tells("named pipe"))
    assert told.state == "needs_you"
    assert told.needs is not None
    assert "cockpit stop api" in told.needs.detail
    await goes_on(cockpit, "web")
    cockpit.kill()
    await cockpit.launch()
    await cockpit.until(tells("named pipe"))
    await goes_on(cockpit, "web")


@pytest.mark.long
async def test_a_pipe_that_a_forged_hook_names_holds_up_nobody(cockpit: Cockpit) -> None:
    await launched(cockpit)
    pipe = cockpit.home / f"{FORGED}.jsonl"
    os.mkfifo(pipe)
    forge(cockpit, pipe)
    await cockpit.until(tells("named pipe"))
    await goes_on(cockpit, "web")
    cockpit.kill()
    await cockpit.launch()
    await goes_on(cockpit, "web")


@pytest.mark.long
async def test_a_pipe_in_place_of_a_presence_note_holds_up_nobody(cockpit: Cockpit) -> None:
    first = await launched(cockpit)
    note = cockpit.home / "claude" / "sessions" / f"{first.pid}.json"
    pipe = cockpit.home / "pipe"
    os.mkfifo(pipe)
    pipe.replace(note)
    await goes_on(cockpit, "web")
    await goes_on(cockpit, "api")
    cockpit.kill()
    await cockpit.launch()
    await goes_on(cockpit, "api")


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK), reason=HANGS)
async def test_a_transcript_on_a_file_system_that_hangs_holds_up_nobody(cockpit: Cockpit) -> None:
    with ExitStack() as held:
        try:
            place = held.enter_context(hanging_mount(cockpit.home / "far"))
        except OSError as refused:
            pytest.skip(f"{HANGS}: {refused}")
        await launched(cockpit)
        forge(cockpit, place / f"{FORGED}.jsonl")
        told = await cockpit.until(tells("does not answer"))
        assert told.needs is not None
        assert str(place) in told.needs.detail
        assert told.needs.detail.endswith("cockpit retries automatically")
        await goes_on(cockpit, "web")
        assert cockpit.process is not None
        cockpit.process.terminate()
        assert await asyncio.to_thread(cockpit.process.wait, 30) == 0
        await cockpit.launch()  # it follows the CLI's own note of its session again
        await goes_on(cockpit, "web")


@pytest.mark.long
async def test_a_document_on_a_file_system_that_hangs_is_refused(cockpit: Cockpit) -> None:
    """The request gets the reason, and the next one is answered."""
    with ExitStack() as held:
        try:
            place = held.enter_context(hanging_mount(cockpit.home / "far"))
        except OSError as error:
            pytest.skip(f"{HANGS}: {error}")
        await cockpit.launch("")
        for _ in range(2):
            refused = await cockpit.refused(Continue(document=str(place / "handoff.md")))
            assert refused.title == "The file system does not answer"
            assert str(place) in refused.detail
        assert (await cockpit.client.status()).agents == []


@pytest.mark.long
async def test_a_worktree_on_a_file_system_that_hangs_is_refused(cockpit: Cockpit) -> None:
    """The request gets the reason, and the next one is answered."""
    with ExitStack() as held:
        try:
            place = held.enter_context(hanging_mount(cockpit.home / "far"))
        except OSError as error:
            pytest.skip(f"{HANGS}: {error}")
        trees = json.dumps(str(place / "trees"))
        more = f'[agents.worktree]\nstrategy = "git_worktree"\ndirectory = {trees}'
        await cockpit.launch(cockpit.agent("api", **PAIR, more=more), cockpit.agent("web", **PAIR))
        await cockpit.start("web")
        start = asyncio.create_task(cockpit.refused(Start(name="api")))
        await goes_on(cockpit, "web")
        refused = await start
        assert refused.title == "The file system does not answer"
        assert str(place / "trees" / "api") in refused.detail

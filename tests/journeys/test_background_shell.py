"""A server that the real Claude Code leaves running does not keep its agent from a handoff."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from cockpit.core.session_activity import FILE_UNCHANGED
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.verbs import Approve
from tests.journeys.real_agent import NO_CLI, call, real_agent, say, write_document

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]
SERVER = "tail -f /dev/null"


def answer(request: Request) -> Reply:
    """Start a server, end the turn with a full context; as a successor, only read."""
    if not request.has_tools:
        return say("ok")
    successor = bool(request.documents_named)
    if (document := write_document(request, 20_000 if successor else 150_000)) is not None:
        return document
    if request.replies_made == 0:
        return call("Bash", command=SERVER, description="dev server", run_in_background=True)
    return say("Done.", 20_000 if successor else 150_000)


def stands(note: Path) -> bool:
    """Whether the CLI's note of its process is old enough to be believed over any hook."""
    said = json.loads(note.read_text())
    age = time.time() - float(said["updatedAt"]) / 1000
    return bool(said["status"] == "shell" and age > FILE_UNCHANGED + 2)


@pytest.mark.long
async def test_an_agent_with_a_background_shell_is_idle_and_is_handed_off() -> None:
    with real_agent(answer, mode='"prompt"') as agent:
        await agent.start()
        await agent.until(lambda row: row.needs and row.needs.kind == "handoff")
        # The record, which names the log, is behind the hooks.
        asked = await agent.until(lambda row: row.background and row.background[0].log)
        assert asked.needs is not None
        assert f"also ends the agent's background work: {SERVER}" in asked.needs.detail
        (task,) = asked.background
        assert (task.type, task.command, task.description) == ("shell", SERVER, "dev server")
        assert task.log is not None
        assert Path(task.log).exists()
        note = agent.flown.scratch.folder.rglob(f"sessions/{asked.pid}.json")
        (note_of_process,) = note
        await agent.until(lambda _: stands(note_of_process))
        await agent.flown.client.ask(Approve(name=agent.name))
        review = await agent.until(lambda row: row.needs and row.needs.kind == "review")
        assert review.needs is not None
        assert SERVER in review.needs.detail
        await agent.flown.client.ask(Approve(name=agent.name))
        after = await agent.until(lambda row: row.handoffs == 1 and row.state == "idle")
        assert after.background == []

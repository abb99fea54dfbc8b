"""First prompts of the real Claude Code: in no argument of any process, and in no file for long."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from pathlib import Path

import pytest

from cockpit.adapters.process.process_table import mentions, pids
from cockpit.core.prompt_files import prompt_files
from cockpit.demo.conversation import Reply, Request
from cockpit.demo.leftovers import carriers
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff, Start, Stop
from tests.journeys.real_agent import NO_CLI, RealAgent, call, real_agent, say, write_document

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]
SECRET = "Tr0ub4dor" + "&3-xK9p$%"
PROMPT = f"Watch the CANARY-server.\nLog in with DB_PASSWORD={SECRET} first."


def answer(request: Request) -> Reply:
    if not request.has_tools:
        return say("ok")
    written = write_document(request)
    if written is not None:
        return written
    if request.replies_made == 0:
        return call("Bash", command="true", description="Look")
    return say("It is watched.")


def arguments(folder: Path, others: set[int]) -> set[bytes]:
    """The arguments of every process that belongs to the flight.

    `others` ran before it. To look into the environment of each would take half a core; a pid
    that is used again is no longer among them.
    """
    running = set(pids())
    others &= running
    mark = os.fsencode(f"{folder}/")
    found = set()
    for pid in running - others:
        with suppress(OSError):
            if pid == os.getpid() or mentions(pid, mark):
                found.add(Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


def at_rest(row: AgentStatus) -> bool:
    return row.state in {"idle", "done"} and row.context.tokens is not None


def ours_with(agent: RealAgent, text: str) -> list[Path]:
    """Files of cockpit's state and runtime folders that hold a text."""
    places, found = agent.flown.scratch.places, []
    for file in (*places.state.rglob("*"), *places.runtime.rglob("*")):
        with suppress(OSError):
            if file.is_file() and text.encode() in file.read_bytes():
                found.append(file)
    return found


async def test_no_process_has_a_prompt_in_its_arguments_and_no_file_of_ours_keeps_its_secret() -> (
    None
):
    with real_agent(answer) as agent:
        seen: set[bytes] = set()
        client, folder = agent.flown.client, agent.flown.scratch.folder
        others = set(pids()) - {os.getpid(), *carriers(folder)}

        async def look() -> None:
            while True:
                seen.update(arguments(folder, others))
                await asyncio.sleep(0.02)

        looking = asyncio.create_task(look())
        config = str(agent.flown.scratch.config)
        asked = Start(name=agent.name, config=config, named=True, prompt=PROMPT)
        await client.ask(asked)
        row = await agent.until(at_rest)
        told = next(each for each in agent.model.requests if each.has_tools)
        assert "CANARY-server" in told.everything
        assert SECRET in told.everything
        assert "CANARY-server" in str(row.goal)
        assert ours_with(agent, SECRET) == []

        await client.ask(Handoff(name=agent.name))
        await agent.until(lambda row: row.handoffs == 1 and row.handoff is None)
        second = await agent.until(at_rest)
        assert second.session_number == 2
        opening = next(
            each.opening for each in agent.model.requests if each.session_id == second.session_id
        )
        assert "You continue a job" in opening
        assert SECRET not in opening

        await client.ask(Stop(name=agent.name))
        again = Start(
            name=agent.name,
            config=config,
            named=True,
            resume="last",
            prompt="Go on with the CANARY-log.",
        )
        before = len(agent.model.requests)
        await client.ask(again)
        await agent.until(
            lambda row: at_rest(row) and len(agent.model.requests) > before and row.pid
        )
        assert "CANARY-log" in agent.model.requests[-1].everything
        looking.cancel()

        everything = b"\n".join(seen)
        assert b"--session-id" in everything
        assert b"--resume" in everything
        assert len(set(re.findall(rb"prompt-[0-9a-f]{16}\.md", everything))) >= 3
        for words in (b"CANARY", SECRET.encode(), b"You continue a job"):
            assert words not in everything


@pytest.mark.long
async def test_a_slash_command_as_the_first_prompt_is_run_as_one() -> None:
    with real_agent(answer) as agent:
        folder = agent.flown.scratch.repository / ".claude" / "commands"
        folder.mkdir(parents=True)
        (folder / "watch.md").write_text("WATCH the server of $ARGUMENTS")
        config = str(agent.flown.scratch.config)
        await agent.flown.client.ask(
            Start(
                name=agent.name,
                config=config,
                named=True,
                prompt="/watch staging",
                directory=str(agent.flown.scratch.repository),
            )
        )
        await agent.until(at_rest)
        told = next(each for each in agent.model.requests if each.has_tools)
        assert "WATCH the server of staging" in told.everything
        assert prompt_files(told.opening) == []

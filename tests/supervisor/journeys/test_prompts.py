"""First prompts: in no argument, in the database without their secrets, and in no file for long."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.demo.leftovers import carriers
from cockpit.wire.verbs import Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

SECRET = "Tr0ub4dor" + "&3-xK9p$%"
PROMPT = f"Count the CANARY-steps.\nLog in with DB_PASSWORD={SECRET} first."


def arguments(home: Path) -> Iterator[bytes]:
    """The arguments of every process of this test."""
    for pid in (*carriers(home), os.getpid()):
        with suppress(OSError):
            yield Path(f"/proc/{pid}/cmdline").read_bytes()


def files_with(folder: Path, text: str) -> list[Path]:
    found = []
    for file in folder.rglob("*"):
        with suppress(OSError):
            if file.is_file() and text.encode() in file.read_bytes():
                found.append(file)
    return found


def prompt_in_database(cockpit: Cockpit) -> str:
    with sqlite3.connect(cockpit.places.database) as database:
        (found,) = database.execute("select prompt from jobs").fetchall()
    return str(found[0])


async def seen_until(cockpit: Cockpit, over: asyncio.Task[object]) -> bytes:
    """Every argument that a process of the test had until something was over."""
    seen: set[bytes] = set()
    while not over.done():
        seen.update(arguments(cockpit.home))
        await asyncio.sleep(0.005)
    await over
    return b"\n".join(seen)


async def test_a_prompt_is_in_no_argument_at_the_start_and_in_a_handoff(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(prompt=PROMPT, steps=9)):
        first = await cockpit.start()

        async def handed_off() -> None:
            await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)

        seen = await seen_until(cockpit, asyncio.create_task(handed_off()))
        assert b"cockpit.demo.standin" in seen
        assert b"CANARY" not in seen
        assert SECRET.encode() not in seen
        assert b"You continue a job" not in seen
        second = await cockpit.row()
        (told,) = cockpit.prompts(second)[:1]
        assert told.startswith("You continue a job")
        assert "CANARY-steps" in told
        assert SECRET not in told
        assert second.session_id != first.session_id


async def test_a_secret_of_a_prompt_is_nowhere_once_the_agent_has_it(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2)):
        await cockpit.start(prompt=PROMPT)
        row = await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert cockpit.prompts(row)[0].startswith(PROMPT)
        assert "CANARY-steps" in str(row.goal)
        assert SECRET not in str(row.goal)
        assert "CANARY-steps" in prompt_in_database(cockpit)
        assert files_with(cockpit.places.state, SECRET) == []
        assert files_with(cockpit.places.runtime, SECRET) == []
        assert list(cockpit.places.prompts.iterdir()) == []


@pytest.mark.long
async def test_a_prompt_of_the_configuration_is_kept_without_its_secret(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", prompt=PROMPT, steps=2)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert cockpit.prompts(row)[0].startswith(PROMPT)
        assert files_with(cockpit.places.state, SECRET) == []


@pytest.mark.long
async def test_a_prompt_waits_for_a_dialog_through_a_restart_and_ends_with_its_session(
    cockpit: Cockpit,
) -> None:
    agents = cockpit.agent(mode="observe", faults="trust", steps=2)
    async with cockpit.flying(agents):
        row = await cockpit.start(prompt=PROMPT)
        await cockpit.until(lambda row: row.pid)
    (kept,) = files_with(cockpit.places.state, SECRET)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    stray = cockpit.places.prompts / "api-of-no-session"
    stray.mkdir()
    (stray / "prompt-0123456789abcdef.md").write_text(SECRET)
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.state == "needs_you")
        assert files_with(cockpit.places.state, SECRET) == [kept]
        cockpit.tmux("send-keys", "-t", str(row.pane), "Enter")
        row = await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert cockpit.prompts(row)[0].startswith(PROMPT)
        assert files_with(cockpit.places.state, SECRET) == []

        await cockpit.ask(Stop(name="api"))
        await cockpit.start(prompt=PROMPT)
        await cockpit.until(lambda row: row.pid)
        assert len(files_with(cockpit.places.state, SECRET)) == 1
        await cockpit.ask(Stop(name="api"))
        assert files_with(cockpit.places.state, SECRET) == []


async def test_a_killed_supervisor_neither_loses_nor_leaks_a_prompt(cockpit: Cockpit) -> None:
    await cockpit.launch(cockpit.agent(mode="observe", faults="trust", steps=2))
    await cockpit.start(prompt=PROMPT)
    row = await cockpit.until(lambda row: row.state == "needs_you")
    cockpit.kill()
    assert len(files_with(cockpit.places.state, SECRET)) == 1
    cockpit.tmux("send-keys", "-t", str(row.pane), "Enter")
    await cockpit.launch()
    row = await cockpit.until(lambda row: row.state in {"idle", "done"})
    assert cockpit.prompts(row)[0].startswith(PROMPT)
    assert files_with(cockpit.places.state, SECRET) == []


@pytest.mark.long
async def test_a_prompt_whose_setup_was_cut_off_is_still_given_word_for_word(
    cockpit: Cockpit,
) -> None:
    go = cockpit.home / "go"
    setup = ["sh", "-c", f"until test -e {go}; do sleep 0.02; done"]
    more = f'[agents.worktree]\nstrategy = "git_worktree"\nsetup = {json.dumps(setup)}'

    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=more)):
        waiting = await cockpit.start(prompt=PROMPT)
        assert waiting.state == "starting"
        assert SECRET not in prompt_in_database(cockpit)
        assert len(files_with(cockpit.places.state, SECRET)) == 1
    go.touch()
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert cockpit.prompts(row)[0].startswith(PROMPT)
        assert files_with(cockpit.places.state, SECRET) == []


@pytest.mark.long
async def test_a_prompt_that_the_cli_did_not_read_is_told_of(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", faults="trust", steps=2)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "needs_you")
        (file,) = cockpit.places.prompts.glob("*/prompt-*.md")
        file.unlink()
        cockpit.tmux("send-keys", "-t", str(row.pane), "Enter")
        told = await cockpit.event("agent.prompt_not_read")
        assert "cockpit send api" in told.text
        row = await cockpit.until(lambda row: row.note)
        assert "did not read the first prompt" in str(row.note)


@pytest.mark.long
async def test_a_command_reads_its_prompt_from_the_file_that_it_names(cockpit: Cockpit) -> None:
    script = 'cat "$1" > got; exec sleep 600'
    command = json.dumps(["sh", "-c", script, "reader", "{prompt_file}"])
    agent = (
        f'[[agents]]\nname = "reader"\nruntime = "command"\nmode = "observe"\n'
        f"directory = {json.dumps(str(cockpit.repository))}\ncommand = {command}\n"
    )

    async with cockpit.flying(agent):
        asked = Start(name="reader", config=str(cockpit.config), named=True, prompt=PROMPT)
        await cockpit.ask(asked)
        got = cockpit.repository / "got"
        await cockpit.until(lambda _: got.exists() and got.read_text(), "reader")
        assert got.read_text().startswith(PROMPT)
        assert not any(b"CANARY" in each for each in arguments(cockpit.home))
        (kept,) = files_with(cockpit.places.state, SECRET)
        assert kept.stat().st_mode & 0o777 == 0o600
        await cockpit.ask(Stop(name="reader"))
        assert files_with(cockpit.places.state, SECRET) == []

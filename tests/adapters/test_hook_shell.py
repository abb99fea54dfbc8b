"""A shell hook's program, with every way in which one can go wrong."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from cockpit.adapters.process.hook_shell import KEPT, ShellHooks, ShellRun
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.demo.leftovers import carriers

PATIENCE = 120.0
"""Seconds that no run takes, also on a busy machine; programs that are ended would take 600."""


def script(folder: Path, body: str, mode: int = 0o755) -> str:
    path = folder / "hook"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    return str(path)


async def run(home: Path, body: str, *, timeout: float = PATIENCE, told: str = "{}\n") -> ShellRun:
    return await run_command(home, [script(home, body)], timeout=timeout, told=told)


async def run_command(
    home: Path, command: list[str], *, timeout: float = PATIENCE, told: str = "{}\n", cwd: str = ""
) -> ShellRun:
    hooks = ShellHooks(LocalProcesses(), os.environ)
    try:
        return await hooks.run(
            command,
            told,
            directory=Path(cwd) if cwd else home,
            more={"COCKPIT_HOME": str(home / "ck"), "COCKPIT_AGENT": "api"},
            timeout=timeout,
        )
    finally:
        await hooks.close()
        assert carriers(home) == []


async def test_it_gets_the_event_on_its_input_and_is_heard(own_home: Path) -> None:
    told = json.dumps({"context": {"usage_percent": 71.0}}) + "\n"
    done = await run(own_home, 'read -r line; echo "$line"; echo oops >&2; pwd', told=told)
    assert done.problem == ""
    assert done.exit_code == 0
    assert done.output.decode() == f"{told}{own_home}\n"
    assert done.complaint == b"oops\n"


async def test_its_environment_is_a_short_list(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-ant-secret")
    lines = (await run(own_home, "env")).output.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert "MY_API_KEY" not in names
    assert {"PATH", "HOME", "COCKPIT_AGENT", "COCKPIT_HOME", "COCKPIT_RUN"} <= names


async def test_no_word_of_it_is_a_shells(own_home: Path) -> None:
    done = await run_command(own_home, ["/bin/echo", "$(touch x)", ";", "`id`"])
    assert done.output == b"$(touch x) ; `id`\n"
    assert not (own_home / "x").exists()


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("exit 137", "exit code 137"),
        ("kill -9 $$", "killed by signal 9"),
        ("exec >&- 2>&-; exit 3", "exit code 3"),
    ],
)
async def test_how_it_ended(own_home: Path, body: str, problem: str) -> None:
    assert (await run(own_home, body)).problem == problem


async def test_missing_not_executable_no_directory(own_home: Path) -> None:
    assert (await run_command(own_home, ["/no/such"])).problem == "the program does not exist"
    flat = script(own_home, "true", mode=0o644)
    assert (await run_command(own_home, [flat])).problem == "the program is not executable"
    lost = await run_command(own_home, ["/bin/true"], cwd=str(own_home / "gone"))
    assert "does not exist" in lost.problem


@pytest.mark.parametrize(
    "body",
    [
        "sleep 600",
        "trap '' TERM HUP INT; while :; do sleep 0.05; done",
        "setsid sleep 600 & sleep 600",
        "kill -STOP $$",
    ],
    ids=["hangs", "ignores TERM", "forks and hangs", "stops itself"],
)
async def test_a_hook_costs_its_time_limit_and_no_more(own_home: Path, body: str) -> None:
    done = await run(own_home, body, timeout=0.5)
    assert done.problem == "timed out (0.5 s)"
    assert done.exit_code is None
    assert 0.5 <= done.seconds < PATIENCE


async def test_a_child_that_keeps_the_pipe_keeps_nobody_waiting(own_home: Path) -> None:
    done = await run(own_home, "setsid sleep 600 & echo there; exit 0")
    assert done.problem == ""
    assert done.output == b"there\n"
    assert done.seconds < PATIENCE


async def test_a_gigabyte_is_cut_short(own_home: Path) -> None:
    done = await run(own_home, "exec head -c 1000000000 /dev/zero")
    assert done.problem == "printed more than 8 MB"
    assert len(done.output) == KEPT


async def test_one_that_reads_nothing_of_a_long_event(own_home: Path) -> None:
    done = await run(own_home, "exit 0", told="x" * 2_000_000)
    assert done.problem == ""


async def test_what_a_killed_predecessor_left_is_swept_up(own_home: Path) -> None:
    running = own_home / "hooks"
    first = ShellHooks(LocalProcesses(), os.environ, running)
    command = [script(own_home, "setsid sleep 600 & exec sleep 600")]
    more = {"COCKPIT_HOME": str(own_home / "ck")}
    task = asyncio.create_task(first.run(command, "", directory=own_home, more=more, timeout=600))
    while len(carriers(own_home)) < 2:
        await asyncio.sleep(0.02)
    assert len(list(running.iterdir())) == 1

    await ShellHooks(LocalProcesses(), os.environ, running).sweep()
    assert carriers(own_home) == []
    assert list(running.iterdir()) == []
    assert (await task).problem == "killed by signal 15"
    await first.close()


async def test_nothing_is_noted_of_hooks_that_are_over(own_home: Path) -> None:
    running = own_home / "hooks"
    hooks = ShellHooks(LocalProcesses(), os.environ, running)
    for command in (["/bin/true"], ["/no/such"]):
        await hooks.run(command, "", directory=own_home, more={}, timeout=5)
    await hooks.close()
    assert list(running.iterdir()) == []
    assert running.stat().st_mode & 0o777 == 0o700

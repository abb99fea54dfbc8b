"""A task that serves all agents fails: it starts again, and the user is told."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

from cockpit.supervisor import loops
from cockpit.supervisor.loops import Loops


@pytest.mark.parametrize("name", ["main.py", "supervisor.py"])
def test_no_endless_task_is_started_without_a_restart(name: str) -> None:
    """A task of `spawn` that fails is over; one of `Loops` starts again and is shown."""
    source = Path(loops.__file__).with_name(name).read_text()
    spawned = [
        call.args[0]
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "spawn"
    ]
    bare = [
        ast.unparse(work)
        for work in spawned
        if isinstance(work, ast.Call)
        and isinstance(work.func, ast.Attribute)
        and work.func.attr == "run"
        and "loops" not in ast.unparse(work.func.value)
    ]
    assert spawned
    assert bare == []


async def test_a_task_that_fails_starts_again_until_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loops, "FIRST_WAIT", 0.001)
    begun, runs = 0, asyncio.Event()

    async def serve() -> None:
        nonlocal begun
        begun += 1
        if begun < 4:
            raise ValueError(f"number {begun}\x1b[31m")
        runs.set()
        await asyncio.Event().wait()

    held = Loops()
    assert held.trouble is None
    task = asyncio.create_task(held.run("reading hooks", serve))
    await asyncio.wait_for(runs.wait(), 30)
    assert "reading hooks failed (ValueError('number 3" in str(held.trouble)
    assert "\x1b" not in str(held.trouble)
    assert caplog.text.count("reading hooks failed") == 3
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert begun == 4


async def test_a_task_that_goes_on_is_no_longer_a_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(loops, "LONGEST_WAIT", 0.05)
    failed = False

    async def serve() -> None:
        nonlocal failed
        if not failed:
            failed = True
            raise KeyError("x")
        await asyncio.Event().wait()

    held = Loops()
    task = asyncio.create_task(held.run("reading hooks", serve))
    async with asyncio.timeout(120):
        while not failed:
            await asyncio.sleep(0)
        while held.trouble is not None:
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

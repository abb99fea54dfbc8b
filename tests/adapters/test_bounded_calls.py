"""Blocking calls: one that hangs holds up neither the others nor the end."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.ports.slow_calls import NoAnswer


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Stands for a file system that hangs until the gate opens."""
    held = threading.Event()
    yield held
    held.set()


async def test_every_key_gets_its_own_answer() -> None:
    calls = BoundedCalls()

    def fail() -> int:
        raise PermissionError("no")

    found = await calls.each({"a": lambda: 1, "b": fail, "c": lambda: 3})
    assert (found["a"], found["c"]) == (1, 3)
    assert isinstance(found["b"], PermissionError)
    assert await calls.each({}) == {}


async def test_the_others_are_answered_while_one_hangs(gate: threading.Event) -> None:
    calls = BoundedCalls(patience=0.05)

    first = await calls.each({"a": lambda: 1, "slow": gate.wait, "c": lambda: 3, "d": lambda: 4})
    assert (first["a"], first["c"], first["d"]) == (1, 3, 4)
    assert isinstance(first["slow"], NoAnswer)
    assert calls.hanging == 1
    again = await calls.each({"slow": gate.wait, "a": lambda: 5})
    assert isinstance(again["slow"], NoAnswer)
    assert again["a"] == 5
    assert calls.hanging == 1, "no second thread hangs for the same key"


async def test_an_answer_that_comes_late_is_given_at_the_next_look(gate: threading.Event) -> None:
    calls = BoundedCalls(patience=0.05)

    def slow() -> str:
        gate.wait()
        return "late"

    assert isinstance((await calls.each({"slow": slow}))["slow"], NoAnswer)
    gate.set()
    while calls.hanging:
        await asyncio.sleep(0)
    assert (await calls.each({"slow": lambda: "new"}))["slow"] == "late"
    assert (await calls.each({"slow": lambda: "new"}))["slow"] == "new"


async def test_a_question_names_what_does_not_answer(gate: threading.Event) -> None:
    calls = BoundedCalls(patience=0.05)

    for _ in range(2):
        with pytest.raises(NoAnswer) as silent:
            await calls.ask("/mnt/far/x", gate.wait)
        assert "/mnt/far/x" in silent.value.detail
    assert await calls.ask("other", lambda: 7) == 7


async def test_the_subject_of_a_question_is_shown_as_words(gate: threading.Event) -> None:
    async with asyncio.timeout(120):
        with pytest.raises(NoAnswer) as silent:
            await BoundedCalls(0.1).ask(("record of", "s1"), gate.wait)
    assert silent.value.detail.startswith("record of s1: no answer")
    assert "busy" in silent.value.hint


async def test_no_more_than_so_many_threads_hang(gate: threading.Event) -> None:
    calls = BoundedCalls(patience=0.02, most_hung=3)

    found = await calls.each(dict.fromkeys(range(8), gate.wait))
    assert all(isinstance(answer, NoAnswer) for answer in found.values())
    assert calls.hanging == 3
    gate.set()
    while calls.hanging:
        await asyncio.sleep(0)
    assert (await calls.each({"a": lambda: 1}))["a"] == 1


ENDS = """
import asyncio, threading
from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.adapters.process import daemon_threads
daemon_threads.LAST_SECONDS = 0.1

async def main():
    asyncio.get_running_loop().set_default_executor(daemon_threads.DaemonThreads(most=12))
    never = threading.Event().wait
    hung = [asyncio.ensure_future(asyncio.to_thread(never)) for _ in range(10)]
    told = await asyncio.gather(*(asyncio.to_thread(str, n) for n in range(40)))
    print(told == [str(n) for n in range(40)])
    found = await BoundedCalls(patience=0.05).each({"x": never})
    print(type(found["x"]).__name__)

asyncio.run(main())
"""


def test_a_process_ends_though_calls_hang() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "True\nNoAnswer\n"), ended.stderr


async def test_idle_threads_end_with_their_owner() -> None:
    calls = BoundedCalls()
    thread = await calls.ask("a", threading.current_thread)
    assert thread.is_alive()
    del calls
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()

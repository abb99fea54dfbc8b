"""A start waits for a busy machine: it is refused only after seconds, not with the first pause.

It does not wait for the file system of another agent.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.config.paths import Places
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.sessions import neighbours
from cockpit.wire.verbs import Plan, Start

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
T = TypeVar("T")


class Busy(BoundedCalls):
    """A machine on which each call takes longer than the time limit of those in the background."""

    def __init__(self) -> None:
        super().__init__(patience=0.1)

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        def late() -> T:
            time.sleep(0.3)
            return call()

        return await super().ask(key, late, patience)


def busy(places: Places) -> Dependencies:
    return replace(dependencies(places), slow=Busy())


async def test_what_a_user_waits_for_is_not_refused_after_a_moment(cockpit: Cockpit) -> None:
    cockpit.world = busy
    async with cockpit.flying(cockpit.agent("api")):
        planned = await cockpit.ask(Plan(name="api", config=str(cockpit.config), named=True))
        assert "api" in planned.message
        row = await cockpit.start()
        assert row.pid is not None


async def test_another_agent_whose_file_system_hangs_stops_no_start(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = cockpit.home / "far"
    far.mkdir()
    hangs, over = threading.Event(), threading.Event()
    on_the_loop: list[str] = []
    real, main = os.path.realpath, threading.current_thread()

    def realpath(path: str | Path, **more: bool) -> str:
        if hangs.is_set() and str(path) == str(far):
            if threading.current_thread() is main:
                on_the_loop.append(str(path))
            else:
                over.wait()
        return real(path, **more)

    monkeypatch.setattr(os.path, "realpath", realpath)
    monkeypatch.setattr(neighbours, "DIRECTORY_SECONDS", 0.1)
    async with cockpit.flying(cockpit.agent("api")):
        await cockpit.ask(Start(name="far", directory=str(far), prompt="count"))
        hangs.set()
        try:
            planned = await cockpit.ask(Plan(name="api"))
            row = await cockpit.start()
        finally:
            over.set()
            hangs.clear()
        assert "running there too" not in planned.message
        assert row.pid is not None
        assert on_the_loop == []

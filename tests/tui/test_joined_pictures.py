"""How a fleet of several hosts looks while one of them is lost, and what its screens say of it.

The fleet folds at 60x15, where the names of hosts need most of the row. `test_sizes.py` reads it at
200x60, and the inbox at both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.tui.app import CockpitApp
from cockpit.tui.state.context import UIContext
from cockpit.tui.state.pace import Pace
from cockpit.wire.status import Needs, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene
from tests.tui.test_pictures import at_rest

THEMES = Path(__file__).parents[2] / "themes"

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def one_time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day are the user's own; here the user lives at Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.delenv("TZ")
    time.tzset()


async def nowhere(_name: object, _line: int = 1) -> None:
    """Nobody attaches from a picture."""


class Hosts:
    """Three machines in memory; one can be lost."""

    def __init__(self) -> None:
        asks = Needs(
            kind="permission", detail="Bash: make clean", tool="Bash", command="make clean"
        )
        self.build = MemoryClient(
            Status(agents=[agent("ci", tokens=88_000), agent("docs", "idle")])
        )
        self.gpu1 = MemoryClient(
            Status(
                agents=[
                    agent("train", tokens=121_000, activity="Bash train.py"),
                    agent("sweep", "needs_you", needs=asks, tokens=64_000),
                ]
            )
        )
        others = [HostClient("build", self.build), HostClient("gpu1", self.gpu1)]
        self.client = JoinedClient(scene(), others)

    def app(self, selected: str) -> CockpitApp:
        ui = UIContext(attach=nowhere, edit=nowhere, pace=Pace(0.0, 0.0))
        made = CockpitApp(self.client, ui, theme_folders=[THEMES])
        made.model.select(selected)
        return made

    def losing(self, *keys: str) -> Callable[[Pilot[None]], object]:
        async def lose(pilot: Pilot[None]) -> None:
            parts = pilot.app.model.parts  # type: ignore[attr-defined]
            await until(pilot, lambda: all(part.connection.live for part in parts.values()))
            self.gpu1.disconnect()
            await until(pilot, lambda: not parts["gpu1"].connection.live)
            await pilot.press(*keys)
            await at_rest(pilot)

        return lose


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        await pilot.pause(0.02)


@pytest.mark.parametrize("size", [(60, 15), (100, 30)], ids=["60x15", "100x30"])
def test_a_fleet_of_three_hosts(snap_compare: Compare, size: tuple[int, int]) -> None:
    """Groups of each host, and the rows of the one that is lost."""
    hosts = Hosts()
    app = hosts.app("gpu1/train")
    assert snap_compare(app, terminal_size=size, run_before=hosts.losing())


def test_the_inbox_of_three_hosts(snap_compare: Compare) -> None:
    """What a host that is lost had asked, greyed."""
    hosts = Hosts()
    app = hosts.app("api")
    assert snap_compare(app, terminal_size=(100, 30), run_before=hosts.losing("i", "G"))

"""Two machines: each notifies about its own agents by itself, and nobody is told twice."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from cockpit.client.host_client import HostClient
from cockpit.client.http import HttpClient
from cockpit.client.joined_client import JoinedClient
from cockpit.config.paths import Places
from cockpit.core.far_names import LOCAL
from cockpit.tui.state.follow import follow
from cockpit.tui.state.model import Change, Model
from tests.supervisor.conftest import Cockpit
from tests.supervisor.journeys.test_sending import Receiver

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.long, pytest.mark.tmux]

PATIENCE = 120.0
HOST = '[[hosts]]\nname = "gpu1"\nconnect = ["false"]\n'


def laptop(own_home: Path) -> Cockpit:
    """The machine with the screen. The other one is the host `gpu1`."""
    home = own_home / "laptop"
    home.mkdir(mode=0o700)
    made = Cockpit(home)
    made.places = Places.of({**os.environ, "COCKPIT_HOME": str(home)})
    made.client = HttpClient(made.places.socket)
    return made


class Screen:
    """What a screen of both machines knows, and what it rings its bell for."""

    def __init__(self, here: Cockpit, there: Cockpit) -> None:
        far = HostClient("gpu1", HttpClient(there.places.socket, "gpu1"))
        self._members = JoinedClient(here.client, [far]).members
        self.model = Model(host=LOCAL, others=["gpu1"])
        self.rung: list[str] = []
        self.model.listen(self._heard)

    def _heard(self, change: Change, _name: str | None) -> None:
        if change is Change.HAPPENED and self.model.events[-1].kind == "agent.needs_you":
            self.rung.append(self.model.events[-1].text)

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        parts = self.model.parts
        tasks = [asyncio.create_task(follow(self._members[host], parts[host])) for host in parts]
        try:
            await until(lambda: all(part.connection.live for part in parts.values()))
            yield
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task

    def knows(self, text: str) -> bool:
        return any(text in event.text for event in self.model.events)


async def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.03)


def notices(receiver: Receiver, path: str, text: str) -> int:
    """How often a machine has sent this text."""
    sent = (post.told["message"] for post in receiver.posts if post.path == path)
    return sum(message.count(text) for message in sent)


def notify(receiver: Receiver, path: str) -> str:
    url = f"json://127.0.0.1:{receiver.port}{path}"
    return f'[notifications]\nurls = ["{url}"]\non = ["needs_you"]\n'


async def test_a_host_notifies_while_the_screen_sleeps_and_is_not_repeated(
    cockpit: Cockpit, own_home: Path
) -> None:
    here = laptop(own_home)
    agents = [cockpit.agent(name, mode="prompt", steps=30, pause=3) for name in ("api", "web")]
    async with (
        Receiver().open() as receiver,
        cockpit.flying(notify(receiver, "/gpu1"), *agents),
        here.flying(notify(receiver, "/laptop"), HOST),
    ):
        screen = Screen(here, cockpit)
        async with screen.awake():
            pass

        await cockpit.start("api")
        await until(lambda: notices(receiver, "/gpu1", "api needs you"))
        assert screen.rung == []

        async with screen.awake():
            # The message has told the user already.
            await until(lambda: screen.knows("api needs you"))
            assert screen.rung == []

            await cockpit.start("web")
            await until(lambda: screen.rung)
            await until(lambda: notices(receiver, "/gpu1", "web needs you"))
            (rung,) = screen.rung
            assert rung.startswith("gpu1: web needs you (handoff)")

        for name in ("api", "web"):
            assert notices(receiver, "/gpu1", f"{name} needs you") == 1
        assert {post.path for post in receiver.posts} == {"/gpu1"}

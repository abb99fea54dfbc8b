"""A session of the real Claude Code that the user started in a tmux of their own, and `adopt`."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cockpit.client.raw_request import fetch
from cockpit.demo.flight import Flight
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Load
from tests.journeys.real_agent import SECONDS
from tests.supervisor.conftest import pause


class BareSession:
    """The user's terminal, and the sessions that the supervisor lists."""

    def __init__(self, flown: Flight) -> None:
        self.flown = flown
        self.environment: dict[str, str] = {}
        """What the session was started with."""
        self._tmux = ["tmux", "-S", str(flown.scratch.folder / "user.tmux"), "-f", "/dev/null"]

    async def start(self, *options: str) -> None:
        """Start it with its first prompt. Its shell goes on after it."""
        scratch = self.flown.scratch
        await self.flown.client.ask(Load(config=str(scratch.config), named=True))
        defaults = tomllib.loads(scratch.config.read_text())["defaults"]
        self.environment = scratch.environment() | defaults["env"]
        pairs = [f"{name}={value}" for name, value in self.environment.items()]
        words = ["env", "-i", *pairs, "claude", "--model", "claude-sonnet-4-6", *options]
        command = ["sh", "-c", f"{shlex.join([*words, 'Keep WORD-one.'])}; exec cat"]
        size = ["-x", "120", "-y", "40", "-c", str(scratch.repository)]
        self.tmux("new-session", "-d", *size, *command)

    def tmux(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=False)
        return done.stdout

    def screen(self) -> str:
        """What the user sees."""
        return self.tmux("capture-pane", "-p")

    def listed(self) -> list[ElsewhereSession]:
        status = json.loads(fetch(self.flown.scratch.places.socket, "/v1/status?elsewhere=1"))
        return [ElsewhereSession.model_validate(each) for each in status["elsewhere"]]

    async def until(self, true: Callable[[], object]) -> None:
        begun = time.monotonic()
        while not true():
            assert time.monotonic() < begun + SECONDS, self.screen()
            await asyncio.sleep(pause(begun))

    async def adopt(self, *words: str) -> None:
        assert await asyncio.to_thread(self.flown.run, "adopt", *words) == 0

    def adopted_screen(self, pane: str | None) -> str:
        """What stands in the pane of the agent that it became."""
        socket = str(self.flown.scratch.places.tmux_socket)
        shown = ["tmux", "-S", socket, "capture-pane", "-p", "-t", str(pane)]
        return subprocess.run(shown, capture_output=True, text=True, check=False).stdout


@contextmanager
def bare_session(flown: Flight) -> Iterator[BareSession]:
    """Nothing runs yet; the user's terminal is taken away at the end."""
    session = BareSession(flown)
    try:
        yield session
    finally:
        session.tmux("kill-server")

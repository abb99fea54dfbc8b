"""A tmux server of one's own per test, and terminals to attach to it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from cockpit.adapters.tmux.panes import Tmux
from cockpit.core.ids import PaneId

PATIENCE = 120.0
"""Seconds until a condition that a test waits for counts as never coming true."""


class Waiting:
    """Conditions that come true by themselves, looked at until they do."""

    async def until(self, look: Callable[[], object]) -> None:
        """Wait until `look` returns something true; it may be a coroutine function."""
        end = time.monotonic() + PATIENCE
        while True:
            answer = look()
            if isinstance(answer, Awaitable):
                answer = await answer
            if answer:
                return
            assert time.monotonic() < end, f"it never came true; last seen: {answer!r}"
            await asyncio.sleep(0.01)

    async def shows(self, tmux: Tmux, pane: PaneId, text: str) -> str:
        """The pane's text once it holds `text`."""
        end = time.monotonic() + PATIENCE
        while True:
            lines = (await tmux.capture(pane, history=2000)).lines
            seen = "\n".join(lines).rstrip()
            if text in seen:
                return seen
            assert time.monotonic() < end, f"{text!r} never showed; the pane holds:\n{seen}"
            await asyncio.sleep(0.01)


class Terminal:
    """A terminal with a program in it, as a user has one. Closing it is a hang-up."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        self.ours, theirs = pty.openpty()
        columns, rows = size
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.seen = b""
        self._woken, self._wake = os.pipe()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def read_rest(self) -> None:
        """Wait until everything that the ended program wrote was read."""
        self._reader.join(PATIENCE)
        assert not self._reader.is_alive(), self.seen[-300:]

    def hang_up(self) -> None:
        """Take the terminal away and wait until its program is gone. Twice is the same as once."""
        if self.ours < 0:
            return
        os.close(self._wake)
        self._reader.join()
        os.close(self._woken)
        os.close(self.ours)
        self.ours = -1
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()

    def _read(self) -> None:
        while self._woken not in select.select([self.ours, self._woken], [], [])[0]:
            try:
                self.seen += os.read(self.ours, 65_536)
            except OSError:
                return


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture
async def tmux(own_home: Path) -> AsyncIterator[Tmux]:
    """A private server that does not run yet; everything in it is ended afterwards."""
    run = own_home / "run"
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    files = run / "t.sock", run / "t.conf"
    server = Tmux(*files, environment, orders=run / "orders", deadline=PATIENCE)
    yield server
    for pane in (await server.look()).values():
        await server.processes.end(server.processes.identify(pane.pid), "", patience=0.2)
    await server.processes.end(None, os.environ["HOME"], patience=0.2)
    await server.stop_server()
    assert not (run / "t.sock").exists()


@pytest.fixture
def terminal(tmux: Tmux) -> Iterator[Callable[..., Terminal]]:
    """Opens terminals; each is hung up at the end of the test."""
    opened: list[Terminal] = []

    def open_terminal(argv: Sequence[str], size: tuple[int, int] = (100, 30)) -> Terminal:
        opened.append(Terminal(argv, tmux.command.environment, size))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.hang_up()

"""Leaving the screen is what the user does; a screen that ends in any other way has failed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading

import pytest

PROGRAM = """
import asyncio, sys
from cockpit.cli.tui import ScreenOptions, run
from tests.client.memory import MemoryClient
from tests.tui.scene import scene

class Cancelling(MemoryClient):
    async def watch(self, *, elsewhere: bool = False, day: bool = False, since: str | None = None):
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)
        raise AssertionError
        yield

class Broken(MemoryClient):
    async def watch(self, *, elsewhere: bool = False, day: bool = False, since: str | None = None):
        raise AssertionError("a bug of ours")
        yield

client = scene()
client.__class__ = {"q": MemoryClient, "cancel": Cancelling, "broken": Broken}[sys.argv[1]]
async def attach(name): ...
host = sys.argv[2] if len(sys.argv) > 2 else "local"
sys.exit(run(client, ScreenOptions(attach=attach, host=host)))
"""


def ended(how: str, keys: bytes, host: str = "local", until: bytes = b"quit") -> tuple[int, str]:
    """The exit code of a screen in a terminal of its own, and everything that it wrote."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, how, host],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    written = bytearray()

    def read() -> None:
        unsent = keys
        while True:
            try:
                data = os.read(ours, 65_536)
            except OSError:
                return
            if not data:
                return
            written.extend(data)
            if unsent and until in written:
                os.write(ours, unsent)
                unsent = b""

    reader = threading.Thread(target=read)
    reader.start()
    try:
        code = process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(ours)
    return code, written.decode(errors="replace")


@pytest.mark.parametrize("keys", [b"q", b"\x11"])
def test_leaving_is_told_by_zero(keys: bytes) -> None:
    assert ended("q", keys)[0] == 0


@pytest.mark.parametrize(
    ("host", "command"), [("local", "cockpit\r\n"), ("gpu1", "cockpit --host gpu1\r\n")]
)
def test_the_shell_shows_what_keeps_running_and_how_to_return(host: str, command: str) -> None:
    code, written = ended("q", b"q", host, until=b"checkout")
    assert code == 0
    assert written.endswith(f"7 agents keep running. To open the screen again: {command}")


def test_a_screen_that_is_cancelled_was_not_left() -> None:
    code, written = ended("cancel", b"")
    assert code == 1
    assert "the screen ended unexpectedly" in written


def test_a_screen_with_a_bug_was_not_left() -> None:
    code, written = ended("broken", b"")
    assert code == 1
    assert "a bug of ours" in written
    assert "without being left" not in written

"""`cockpit serve`: the screen in a real browser, an agent's pane in it, and a clean end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.chromium import PROGRAM, Chromium
from tests.journeys.conftest import COCKPIT, PATIENCE

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    flight.fly(flight.cockpit.agent("api", "observe", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    return flight


@contextmanager
def served(at: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`cockpit serve` as a process of its own, and the address that it printed."""
    process = subprocess.Popen(
        [*COCKPIT, "serve", "--port", "0", *words],
        cwd=at, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.long
def test_it_ends_clean_at_a_ctrl_c(fleet: Flight) -> None:
    with served(fleet.cockpit.home) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Ctrl-C stops only this server" in said
    assert "Traceback" not in said
    assert fleet.row().pid


@pytest.mark.long
@pytest.mark.skipif(not PROGRAM, reason="no Chromium on this machine (Debian: chromium)")
async def test_the_screen_and_a_pane_in_a_browser(fleet: Flight, tmp_path: Path) -> None:
    with served(fleet.cockpit.home) as (_, address):
        await _visit(fleet, address, tmp_path)


async def _visit(fleet: Flight, address: str, folder: Path) -> None:
    async with Chromium(fleet.cockpit.home / "chromium") as browser:
        await browser.open(address)
        await _reads(browser, 0, "cockpit", "api", "f hand off")
        assert "token" not in await browser.ask("location.href")
        assert await browser.ask("document.cookie") == ""

        await browser.picture(folder / "fleet.png")
        assert len((folder / "fleet.png").read_bytes()) > 10_000, "an empty page"

        for size in ((700, 500), (1200, 617)):
            await _every_row_shows(browser, *size)

        seen = len(await browser.heard())
        await browser.press("Enter", "\r")
        # The status line of tmux: the fleet shows the rest of the pane too, as a preview.
        await _reads(browser, seen, "? for shortcuts", "F12 back to the cockpit")
        for letter in "go on":
            await browser.press(letter, letter)
        await browser.press("Enter", "\r")
        await asyncio.to_thread(fleet.until, lambda row: row.state == "done")

        seen = len(await browser.heard())
        await browser.press("F12")
        await _reads(browser, seen, "done", "✓")

        # Nothing happens: nothing is sent.
        await _silent(browser)

        await browser.press("q", "q")
        closed = "document.body.classList.contains('-closed')"
        await _true(browser, closed)
        assert "Open cockpit again" in await browser.ask("document.body.innerText")


async def _every_row_shows(browser: Chromium, width: int, height: int) -> None:
    """The window gets another size; nothing of the terminal is outside of it afterwards."""
    await browser.do(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=height, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    await _true(browser, f"innerHeight === {height}")
    page = "document.querySelector('.xterm-screen')"
    await _true(browser, f"{page}.offsetHeight <= {height} && {page}.offsetWidth <= {width}")


async def _reads(browser: Chromium, since: int, *words: str) -> None:
    """Wait until the terminal in the page was sent all of these.

    Blanks do not count: cells that are blank already are not sent again.
    """
    end = time.monotonic() + PATIENCE
    while True:
        text = "".join(SEQUENCE.sub("", (await browser.heard())[since:]).split())
        if all("".join(word.split()) in text for word in words):
            return
        assert time.monotonic() < end, text[-3000:]
        await asyncio.sleep(0.05)


async def _silent(browser: Chromium, seconds: float = 2.0) -> None:
    """Wait for so many seconds in which nothing came."""
    end = time.monotonic() + PATIENCE
    heard, since = await browser.heard(), time.monotonic()
    while time.monotonic() - since < seconds:
        assert time.monotonic() < end, "it is never silent"
        await asyncio.sleep(0.1)
        if (now := await browser.heard()) != heard:
            heard, since = now, time.monotonic()


async def _true(browser: Chromium, expression: str) -> None:
    end = time.monotonic() + PATIENCE
    while not await browser.ask(expression):
        assert time.monotonic() < end, expression
        await asyncio.sleep(0.05)

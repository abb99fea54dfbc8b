"""The screens behind the fleet's are no part of the start, and are there before a key asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cockpit.tui import screens
from cockpit.tui.app import CockpitApp
from cockpit.tui.screens import lazy

FOLDER = Path(screens.__path__[0])
PROGRAM = """
import asyncio, sys, time
from cockpit.cli.tui import ScreenOptions, build
from tests.client.memory import MemoryClient
from tests.tui.scene import agent
from cockpit.wire.status import Status

async def attach(_name):
    pass

def loaded():
    from cockpit.tui.screens.lazy import NAMES
    return {name for name in NAMES if f"cockpit.tui.screens.{name}" in sys.modules}

async def fly():
    app = build(MemoryClient(Status(agents=[agent("api")])), ScreenOptions(attach=attach))
    print(len(loaded()))
    async with app.run_test() as user:
        end = time.monotonic() + 60
        while time.monotonic() < end and len(loaded()) < len(lazy.NAMES):
            await user.pause(0.02)
        print(len(lazy.NAMES) - len(loaded()))

from cockpit.tui.screens import lazy
asyncio.run(fly())
"""


def test_they_come_after_the_first_frame_and_before_a_key() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )

    at_the_start, missing_later = done.stdout.split()
    assert (at_the_start, missing_later) == ("0", "0")


def test_each_screen_is_imported_before_a_key_opens_it() -> None:
    found = {f"{file.parent.name}.screen" for file in FOLDER.glob("*/screen.py")}

    assert found <= {*lazy.NAMES, "fleet.screen"}


def test_each_stylesheet_is_loaded() -> None:
    found = {file.relative_to(FOLDER.parent).as_posix() for file in FOLDER.parent.rglob("*.tcss")}

    assert found == {*map(str, CockpitApp.CSS_PATH)}

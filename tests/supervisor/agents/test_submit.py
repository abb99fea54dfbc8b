"""A pasted prompt is submitted, also where the CLI takes an Enter as a part of the text."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Screen
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.submit import paste, refuse_first_dialog, submit
from cockpit.supervisor.dependencies import Dependencies

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PANE = PaneId("%1")


@pytest.mark.parametrize(
    ("may_lose_enter", "empty", "presses"),
    [(True, False, 2), (True, True, 1), (True, None, 1), (False, False, 1)],
)
async def test_enter_is_pressed_again_only_while_the_text_stands_there(
    may_lose_enter: bool, empty: bool | None, presses: int
) -> None:
    pressed: list[str] = []

    async def press(pane: PaneId, key: str) -> None:
        assert pane == PANE
        pressed.append(key)

    async def capture(pane: PaneId) -> Screen:
        return Screen(("a prompt box",))

    async def sleep(seconds: float) -> None:
        assert seconds > 0

    runtime = SimpleNamespace(
        capabilities=SimpleNamespace(may_lose_enter=may_lose_enter), composer=lambda screen: empty
    )
    world: Any = SimpleNamespace(
        panes=SimpleNamespace(press=press, capture=capture), clock=SimpleNamespace(sleep=sleep)
    )
    agent = cast("Agent", SimpleNamespace(runtime=runtime))
    await submit(cast("Dependencies", world), agent, PANE)
    assert pressed == ["Enter"] * presses


@pytest.mark.parametrize(("empty", "refuses"), [(None, True), (True, False), (False, False)])
async def test_nothing_is_typed_into_a_dialog_that_comes_before_a_session(
    empty: bool | None, refuses: bool
) -> None:
    async def capture(pane: PaneId) -> Screen:
        return Screen(("Do you trust the files in this folder?",))

    runtime = SimpleNamespace(composer=lambda _: empty, first_dialog=lambda _: "It asks for trust")
    world: Any = SimpleNamespace(panes=SimpleNamespace(capture=capture))
    agent: Any = SimpleNamespace(name="api", runtime=runtime)
    with pytest.raises(NotNow) if refuses else nullcontext() as refused:
        await refuse_first_dialog(world, agent, PANE)
    assert (refused is not None) is refuses
    if refused is not None:
        assert "It asks for trust" in refused.value.detail


BUSY = """\
#!{python}
import os, sys, time, tty
from pathlib import Path

if "--version" in sys.argv:
    sys.exit(print("0.61.0"))
tty.setraw(0)
typed = ""
while True:
    shown = typed or "Type your message or @path/to/file"
    box = ["▄" * 40, " > " + shown, "▀" * 40]
    os.write(1, ("\\x1b[2J\\x1b[H" + "\\r\\n".join(box)).encode())
    first = os.read(0, 1)
    time.sleep(1.0)  # it is busy
    keys = (first + os.read(0, 9999)).decode() if not first == b"\\r" else "\\r"
    if keys == "\\r":
        Path({taken}).write_text(typed)
        typed = ""
    else:
        typed += keys.replace("\\r", " ")
"""
"""Draws Gemini's prompt box, and takes an Enter that it reads with other keys as text."""


@pytest.mark.tmux
async def test_enter_is_pressed_after_a_busy_cli_has_read_the_paste(cockpit: Cockpit) -> None:
    program, taken = cockpit.home / "bin" / "gemini", cockpit.home / "taken"
    program.write_text(BUSY.format(python=sys.executable, taken=json.dumps(str(taken))))
    program.chmod(0o700)
    (cockpit.home / "gemini").mkdir()
    table = (
        "[[agents]]\nname = 'api'\nruntime = 'gemini'\n"
        f"directory = {json.dumps(str(cockpit.repository))}\n"
        f"env = {{ GEMINI_CLI_HOME = {json.dumps(str(cockpit.home / 'gemini'))} }}\n"
    )
    async with cockpit.flying(table) as supervisor:
        row = await cockpit.start()
        pane = row.pane or ""
        await cockpit.until(
            lambda _: "Type your message" in cockpit.tmux("capture-pane", "-p", "-t", pane)
        )
        agent = supervisor.fleet.agent("api")
        assert agent.record.pane is not None
        await paste(supervisor.dependencies, agent, agent.record.pane, "Go on.")
        await submit(supervisor.dependencies, agent, agent.record.pane)
        await cockpit.until(lambda _: taken.exists() and taken.read_text() == "Go on.")

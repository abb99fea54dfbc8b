"""An Enter that the CLI took as a part of the pasted text is pressed once more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cockpit.core.ids import PaneId
from cockpit.ports.panes import Screen
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.submit import submit
from cockpit.supervisor.dependencies import Dependencies

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

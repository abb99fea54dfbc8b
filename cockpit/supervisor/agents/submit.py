"""Submit what was pasted into an agent's prompt box."""

from __future__ import annotations

from cockpit.core.ids import PaneId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

PASTE_SETTLES = 0.3
"""Seconds between a paste and its Enter. A CLI takes an Enter within a paste as text."""
ENTER_SETTLES = 0.7
"""Seconds after which the box is empty if the Enter was taken."""


async def submit(dependencies: Dependencies, agent: Agent, pane: PaneId) -> None:
    """Press Enter, and once more if the CLI took the first as a part of the text."""
    await dependencies.panes.press(pane, "Enter")
    if not agent.runtime.capabilities.may_lose_enter:
        return
    await dependencies.clock.sleep(ENTER_SETTLES)
    screen = await dependencies.panes.capture(pane)
    if agent.runtime.composer(screen) is False:
        await dependencies.panes.press(pane, "Enter")

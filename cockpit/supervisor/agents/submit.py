"""Paste a prompt into an agent's prompt box, and submit it."""

from __future__ import annotations

from cockpit.core.ids import PaneId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

PASTE_SETTLES = 0.3
"""Seconds between a paste and its Enter. A CLI treats an Enter within a paste as text."""
PASTE_SHOWN = 10.0
"""Maximum seconds until a busy CLI shows a paste. If a CLI reads Enter together with the paste, the
CLI treats Enter as text, however much later the key was pressed."""
PASTE_LOOK = 0.1
"""Seconds between two checks whether the paste is displayed."""
ENTER_SETTLES = 0.7
"""Seconds after which the prompt box is empty if Enter was accepted."""


async def paste(dependencies: Dependencies, agent: Agent, pane: PaneId, text: str) -> None:
    """Paste the text, and wait until Enter can be pressed."""
    panes, clock = dependencies.panes, dependencies.clock
    await panes.paste(pane, text)
    if agent.runtime.capabilities.may_lose_enter:
        until = clock.monotonic() + PASTE_SHOWN
        while agent.runtime.composer(await panes.capture(pane)) is not False:
            if clock.monotonic() > until:
                break
            await clock.sleep(PASTE_LOOK)
    await clock.sleep(PASTE_SETTLES)


async def submit(dependencies: Dependencies, agent: Agent, pane: PaneId) -> None:
    """Press Enter, and once more if the CLI treated the first as part of the text."""
    await dependencies.panes.press(pane, "Enter")
    if not agent.runtime.capabilities.may_lose_enter:
        return
    await dependencies.clock.sleep(ENTER_SETTLES)
    screen = await dependencies.panes.capture(pane)
    if agent.runtime.composer(screen) is False:
        await dependencies.panes.press(pane, "Enter")

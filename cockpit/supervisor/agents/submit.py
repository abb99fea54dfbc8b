"""Paste a prompt into an agent's prompt box, and submit it."""

from __future__ import annotations

from cockpit.core.errors import NotNow
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Screen
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

PASTE_SETTLES = 0.3
"""Seconds between a paste and its Enter. A CLI treats an Enter within a paste as text."""
PASTE_SHOWN = 10.0
"""Maximum seconds to wait until a busy CLI shows a paste. If a CLI reads Enter together with the
paste, the CLI treats Enter as text, however much later the key was pressed."""
PASTE_LOOK = 0.1
"""Seconds between two checks whether the paste is displayed."""
ENTER_SETTLES = 0.7
"""Seconds after which the prompt box is empty if Enter was accepted."""


def open_first_dialog(agent: Agent, screen: Screen) -> str | None:
    """Return the question of a dialog that comes before a session, such as trust; else None.

    If the screen has a prompt box, no such dialog is open: text that looks like a dialog is part of
    the conversation.
    """
    if agent.runtime.composer(screen) is not None:
        return None
    return agent.runtime.first_dialog(screen)


async def refuse_first_dialog(dependencies: Dependencies, agent: Agent, pane: PaneId) -> None:
    """Raise `NotNow` if the pane shows a trust or login dialog: Enter would answer the dialog."""
    dialog = open_first_dialog(agent, await dependencies.panes.capture(pane))
    if dialog is not None:
        raise NotNow(
            f"{agent.name} is asking a question in its pane",
            f"{dialog}. Your text would be taken as the answer.",
            f"Answer in the pane: cockpit attach {agent.name}",
        )


async def paste(dependencies: Dependencies, agent: Agent, pane: PaneId, text: str) -> None:
    """Paste the text, and wait until the CLI would accept Enter. Does not press Enter.

    Waits at most about `PASTE_SHOWN` seconds.
    """
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
    """Press Enter, and once more if the CLI treated the first Enter as part of the text."""
    await dependencies.panes.press(pane, "Enter")
    if not agent.runtime.capabilities.may_lose_enter:
        return
    await dependencies.clock.sleep(ENTER_SETTLES)
    screen = await dependencies.panes.capture(pane)
    if agent.runtime.composer(screen) is False:
        await dependencies.panes.press(pane, "Enter")

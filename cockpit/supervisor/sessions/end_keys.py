"""Ask an idle program to end, with its runtime's `end_keys`."""

from __future__ import annotations

from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Turn
from cockpit.core.pane_keys import is_key
from cockpit.ports.processes import ProcessId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.submit import PASTE_SETTLES, open_first_dialog
from cockpit.supervisor.dependencies import Dependencies

PATIENCE = 5.0
"""Seconds within which the program must end; otherwise it gets a signal.

The program first runs the user's hooks, each in its own process.
"""


async def press_end_keys(dependencies: Dependencies, agent: Agent, process: ProcessId) -> None:
    """Press the runtime's `end_keys`, if any, and wait up to `PATIENCE` for the program to end.

    Does nothing unless the agent is known to be idle and shows no dialog, because the keys could
    answer a dialog. Does nothing while the prompt box contains text, because the keys could send
    the text.
    """
    keys, pane = agent.runtime.capabilities.end_keys, agent.record.pane
    if not keys or pane is None or agent.session_state.activity.turn is not Turn.IDLE:
        return
    try:
        screen = await dependencies.panes.capture(pane)
        if agent.runtime.composer(screen) is False or open_first_dialog(agent, screen):
            return
        for word in keys:
            if is_key(word):
                await dependencies.panes.press(pane, word)
            else:
                await dependencies.panes.paste(pane, word)
                await dependencies.clock.sleep(PASTE_SETTLES)
    except CockpitError:
        return  # the caller sends the signal
    await dependencies.processes.wait_for_end(process, PATIENCE)

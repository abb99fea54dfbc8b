"""Show an error that occurs while an agent is watched; other agents are still watched."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from cockpit.core.errors import CockpitError
from cockpit.supervisor.agents.agent import Agent

_log = logging.getLogger(__name__)


async def safely(agent: Agent, part: str, work: Awaitable[None]) -> None:
    """Await the work; an error is shown on the screen, and a bug is logged too."""
    try:
        await work
        agent.troubles.succeed(part)
    except CockpitError as refused:
        agent.troubles.fail(part, str(refused))
    except Exception as bug:  # noqa: BLE001 - watching continues after any error
        show_bug(agent, part, bug)


def show_bug(agent: Agent, part: str, bug: Exception) -> None:
    """Show a bug on the agent's row, and log it once."""
    trouble = f"watching the agent's {part} failed: {bug!r}; see the log"
    if agent.troubles.fail(part, trouble):  # logging it every second would fill the log
        _log.error("watching the %s of %s failed", part, agent.name, exc_info=bug)

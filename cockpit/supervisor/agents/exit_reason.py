"""How an agent's process ended, as far as its terminal can tell. Only looks."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import PanesSilent
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.dependencies import Dependencies

OURS = ("Pane is dead", "This process has ended")
"""How lines begin that the terminal adds to a pane whose process is gone."""
SERVER_ENDED = "The tmux server has ended, and all its panes with it."
LAST_WORDS = 3
"""Lines of a dead pane that go on the row."""


async def how_it_ended(dependencies: Dependencies, agent: Agent) -> Exit:
    """What the terminal knows of the end, with the last lines that were to be read."""
    status = signal = None
    words = ""
    pane = agent.record.pane
    try:
        seen = (await dependencies.panes.look()).get(pane) if pane else None
        if seen is not None:
            status, signal = seen.exit_status, seen.exit_signal
            assert pane is not None
            screen = await dependencies.panes.capture(pane, history=50)
            words = last_words(screen.lines)
        elif pane is not None:
            words = await _why_the_pane_is_gone(dependencies)
    except (PanesSilent, CockpitError):
        pass  # the end itself is certain; only its words are lost
    return Exit(dependencies.clock.now().timestamp(), status, signal, words)


async def without_panes(dependencies: Dependencies, agents: Iterable[Agent]) -> list[Agent]:
    """Agents whose pane is not there any more; none where the multiplexer does not answer."""
    had = [(agent, agent.record.pane) for agent in agents if agent.record.pane is not None]
    try:
        there = await dependencies.panes.look()
    except (PanesSilent, CockpitError):
        return []
    # A pane that was given meanwhile is younger than the look.
    return [agent for agent, pane in had if agent.record.pane == pane and pane not in there]


async def _why_the_pane_is_gone(dependencies: Dependencies) -> str:
    if await dependencies.panes.server_pid() is None:
        return SERVER_ENDED
    return "Its pane was closed."


def last_words(lines: tuple[str, ...]) -> str:
    """The last lines of a screen that say something, as one."""
    spoken = [line for raw in lines if (line := safe_line(raw, 160).strip())]
    own = [line for line in spoken if not line.startswith(OURS)]
    return " / ".join(own[-LAST_WORDS:])

"""Find out from tmux how an agent's process ended. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.errors import CockpitError
from cockpit.core.ids import PaneId
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.supervisor.agents.agent import Agent, Exit, LostPane, PaneLoss
from cockpit.supervisor.dependencies import Dependencies

OURS = ("Pane is dead", "This process has ended")
"""Prefixes of lines that tmux and cockpit add to a dead pane."""
SERVER_ENDS, ASK_AGAIN = 1.0, 0.05
"""Maximum seconds to query a tmux server that may be exiting, and seconds between two queries."""
LEAST_ASKED = 4
"""Minimum queries of a tmux server that may be exiting, because an answer can take a second on a
busy machine."""
HANGUP_SECONDS = 2.0
"""Maximum seconds until a process ends after its pane was closed, unless it ignores SIGHUP."""
LINES_SHOWN = 3
"""Maximum lines of a dead pane that the screen shows."""


async def find_exit(dependencies: Dependencies, agent: Agent) -> Exit:
    """Return how the agent's process ended, and the pane's last lines, as far as tmux knows."""
    status = signal = lost = None
    text = ""
    pane = agent.record.pane
    try:
        seen = await _dead_pane(dependencies, pane) if pane else None
        if seen is not None:
            status, signal = seen.exit_status, seen.exit_signal
            assert pane is not None
            screen = await dependencies.panes.capture(pane, history=50)
            text = last_lines(screen.lines)
            if status is not None and status == agent.runtime.capabilities.restart_status:
                ended = f"{agent.runtime.tools.cli} ended to apply your answer"
                text = f"{ended}. Start it again: cockpit start {agent.name}"
        elif pane is not None:
            server_ended = await _server_has_ended(dependencies)
            lost = LostPane.SERVER_ENDED if server_ended else LostPane.CLOSED
        elif (loss := agent.lost_pane) is not None:
            # Closing a pane sends SIGHUP to the process in it, which ends a moment later.
            recent = dependencies.clock.monotonic() - loss.at <= HANGUP_SECONDS
            lost = loss.why if recent else None
    except (PanesSilent, CockpitError):
        # The process has certainly ended. A tmux server that is exiting may not answer.
        server_ended = pane is not None and await _server_has_ended(dependencies)
        lost = LostPane.SERVER_ENDED if server_ended else None
    return Exit(dependencies.clock.now().timestamp(), status, signal, text, lost)


async def _dead_pane(dependencies: Dependencies, pane: PaneId) -> Pane | None:
    """Return the pane of a process that has ended; None if the pane does not exist.

    tmux notices the end a moment later than cockpit. Waits about a second for tmux to report the
    pane as dead; after that, returns the pane anyway.
    """
    until = dependencies.clock.monotonic() + SERVER_ENDS
    asked = 0
    while True:
        asked += 1
        seen = (await dependencies.panes.look()).get(pane)
        if seen is None or seen.dead or _is_over(dependencies, until, asked):
            return seen
        await dependencies.clock.sleep(ASK_AGAIN)


def _is_over(dependencies: Dependencies, until: float, asked: int) -> bool:
    return asked >= LEAST_ASKED and dependencies.clock.monotonic() > until


async def lost_panes(
    dependencies: Dependencies, agents: Iterable[Agent]
) -> list[tuple[Agent, PaneLoss]]:
    """Return the agents whose pane no longer exists, and why; empty if tmux does not answer."""
    known = [(agent, agent.record.pane) for agent in agents if agent.record.pane is not None]
    try:
        panes = await dependencies.panes.look()
    except (PanesSilent, CockpitError):
        return []
    without = [(agent, pane) for agent, pane in known if pane not in panes]
    if not without:
        return []
    server_ended = not panes and await _server_has_ended(dependencies)
    loss = PaneLoss(
        LostPane.SERVER_ENDED if server_ended else LostPane.CLOSED, dependencies.clock.monotonic()
    )
    # An agent may have got another pane after the listing.
    return [(agent, loss) for agent, pane in without if agent.record.pane == pane]


async def _server_has_ended(dependencies: Dependencies) -> bool:
    """Return whether the tmux server has exited.

    If tmux does not answer, retries for about a second, and then returns False.
    """
    clock = dependencies.clock
    until = clock.monotonic() + SERVER_ENDS
    asked = 0
    while True:
        asked += 1
        try:
            return await dependencies.panes.server_pid() is None
        except PanesSilent:
            if _is_over(dependencies, until, asked):
                return False
        except CockpitError:
            return False
        await clock.sleep(ASK_AGAIN)


def last_lines(lines: tuple[str, ...]) -> str:
    """Return the last `LINES_SHOWN` lines of a screen as one line.

    Leaves out empty lines, and lines that begin with a prefix in `OURS`.
    """
    filled = [line for raw in lines if (line := safe_line(raw, 160).strip())]
    own = [line for line in filled if not line.startswith(OURS)]
    return " / ".join(own[-LINES_SHOWN:])

"""Find the agents that a reboot or the exit of the tmux server interrupted.

An interruption is stored as a flag of the session. The flag stays until the session is reopened; it
has no effect once the agent was stopped or began another session. Starts and ends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cockpit.supervisor.agents.agent import Agent, Exit, LostPane
from cockpit.supervisor.dependencies import Dependencies

Cause = Literal["restart", "terminal"]

WORDS: dict[Cause, str] = {
    "restart": "the session was interrupted by a reboot",
    "terminal": "the session was interrupted when the tmux server exited",
}
_LATCHES: dict[str, Cause] = {"interrupted.restart": "restart", "interrupted.terminal": "terminal"}
SHORTLY = 30.0
"""In a shutdown, an agent ends at most this many seconds before the supervisor."""


def find_interrupted(dependencies: Dependencies, agents: Iterable[Agent], *, panes: bool) -> None:
    """After a restart of the supervisor, store which agents were interrupted.

    `panes`: whether tmux has any pane of an agent.
    """
    ended = [agent for agent in agents if agent.record.wanted and agent.session and not agent.alive]
    for agent in ended:
        known = _known(dependencies, agent)
        cause = known or _cause(dependencies, agent, panes=panes)
        if cause is not None and known is None:
            note_interrupted(dependencies, agent, cause)
        agent.troubles.interrupted = WORDS[cause] if cause else None


def note_interrupted(dependencies: Dependencies, agent: Agent, cause: Cause) -> None:
    """Store that this agent's session was interrupted."""
    assert agent.session is not None
    name = next(name for name, latch_cause in _LATCHES.items() if latch_cause == cause)
    dependencies.store.latch(agent.session.id, name, dependencies.clock.now().timestamp())
    agent.troubles.interrupted = WORDS[cause]


def forget_interruption(dependencies: Dependencies, agent: Agent) -> None:
    """Remove the agent's interruption, because the agent has an open session again. Idempotent."""
    agent.troubles.interrupted = None
    if agent.session is not None:
        dependencies.store.unlatch(agent.session.id, *_LATCHES)


def ended_with_server(end: Exit) -> bool:
    """Return whether the agent ended because the tmux server exited."""
    return end.lost is LostPane.SERVER_ENDED


def note_shutdown(dependencies: Dependencies, agents: Iterable[Agent]) -> None:
    """Store which agents failed or were killed just before this supervisor ends.

    They count as interrupted if the machine is shutting down. Only the next supervisor can know
    that: the boot id has then changed.
    """
    now, boot = dependencies.clock.now().timestamp(), dependencies.clock.boot()
    for agent in agents:
        end = agent.exit
        if end is None or not agent.record.wanted or agent.session is None:
            continue
        if end.status != 0 and end.recorded is None and now - end.at <= SHORTLY:
            dependencies.store.latch(agent.session.id, f"{_SHUTDOWN}{boot}", now)


_SHUTDOWN = "ended.before.shutdown."


def _known(dependencies: Dependencies, agent: Agent) -> Cause | None:
    assert agent.session is not None
    ident = agent.session.id
    for name, cause in _LATCHES.items():
        if dependencies.store.latched(ident, name) is not None:
            return cause
    return None


def _cause(dependencies: Dependencies, agent: Agent, *, panes: bool) -> Cause | None:
    assert agent.session is not None
    record, boot = agent.record, dependencies.clock.boot()
    other_boot = record.boot is not None and record.boot != boot
    if record.ending is None:  # the agent ended while no supervisor was running
        if other_boot:
            return "restart"
        return "terminal" if record.pid is not None and not panes else None
    if not other_boot:
        return None
    name = f"{_SHUTDOWN}{record.boot}"
    return "restart" if dependencies.store.latched(agent.session.id, name) is not None else None

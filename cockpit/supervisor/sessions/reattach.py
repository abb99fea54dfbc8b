"""Find the running process of an agent's record.

A process is identified by the marker in its environment. If the environment cannot be read, the
pid and the start time identify the process. Never starts or ends a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.ports.panes import Pane
from cockpit.ports.processes import ProcessId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import MARKED_DONE, OPENED
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions

LAUNCHES, LAUNCH_LOOK = 30, 0.05
"""Number of checks whether a launcher has executed the agent (`execve`), and seconds between
them."""


async def find_process(
    dependencies: Dependencies, sessions: Sessions, agent: Agent, panes: Mapping[str, Pane]
) -> bool:
    """Reattach the recorded process after a restart; return whether it is running."""
    record = agent.record
    if record.session is None or record.run is None:
        return False
    pane = panes.get(record.pane or "") or _labelled(panes, agent.name)
    kept = agent.session.transcript if agent.session else None
    opened_at = dependencies.store.latched(record.session, OPENED)
    agent.begin_session(sessions.tail(agent, Path(kept) if kept else None), opened_at)
    agent.marked_done_at = dependencies.store.latched(record.session, MARKED_DONE)
    if pane is not None and await _is_agents_own(dependencies, agent, pane):
        sessions.attach_process(agent, pane)
        return True
    if (left := _without_terminal(dependencies, agent)) is not None:
        agent.process = left
        agent.change(pane=None)
        sessions.watch_end(agent, left)
        return True
    if pane is not None:
        agent.change(pane=pane.id)
    elif record.pane is not None:
        agent.change(pane=None)
    agent.process = None
    return False


def _without_terminal(dependencies: Dependencies, agent: Agent) -> ProcessId | None:
    """Return the recorded process if it is still running although its pane is closed."""
    run, process = agent.record.run, _recorded(agent)
    if run is None or process is None:
        return None
    # A process that hides its environment is identified only by pid and start time.
    return process if dependencies.processes.carries(process, run) is not False else None


def _recorded(agent: Agent) -> ProcessId | None:
    record = agent.record
    if record.pid is None or record.started is None or record.boot is None:
        return None
    return ProcessId(record.pid, record.started, record.boot)


async def reattach(dependencies: Dependencies, sessions: Sessions, agent: Agent) -> bool:
    """Reattach the recorded process; return whether it is running.

    Used after a start that was not saved, because another start would create a second process.
    """
    if agent.alive and agent.process is not None and agent.record.pid == agent.process.pid:
        return True
    panes = {str(key): pane for key, pane in (await dependencies.panes.look()).items()}
    pane = panes.get(agent.record.pane or "") or _labelled(panes, agent.name)
    if pane is None or not await _is_agents_own(dependencies, agent, pane):
        return False
    sessions.attach_process(agent, pane)
    return True


async def _is_agents_own(dependencies: Dependencies, agent: Agent, pane: Pane) -> bool:
    """Return whether the pane's process has the agent's marker, or is the recorded process.

    Waits a moment, because a launcher has the marker only after it has executed the agent
    (`execve`).
    """
    record = agent.record
    assert record.run is not None
    if pane.dead:
        return False
    process = dependencies.processes.identify(pane.pid)
    for _ in range(LAUNCHES if record.pid is None else 1):
        if process is None or not dependencies.processes.alive(process):
            return False
        carries = dependencies.processes.carries(process, record.run)
        if carries or (carries is None and process == _recorded(agent)):
            return True
        await dependencies.clock.sleep(LAUNCH_LOOK)
    return False


def _labelled(panes: Mapping[str, Pane], label: str) -> Pane | None:
    labelled = [pane for pane in panes.values() if pane.label == label]
    return labelled[0] if len(labelled) == 1 else None

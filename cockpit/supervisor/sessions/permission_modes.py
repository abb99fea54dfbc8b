"""Permission modes of a job whose sessions run in several CLIs.

A session's record names the mode as the agent's configured CLI does, even while the job runs in
another CLI.
"""

from __future__ import annotations

from cockpit.core.permission import ASKS_FIRST, DEFAULT, successors_mode
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Runtimes


def mode_in(runtimes: Runtimes, agent: Agent, mode: str, runtime: Runtime) -> str:
    """Return a recorded mode, named as the CLI `runtime` does.

    Empty only for the configured CLI, because the default of another CLI could allow more.
    """
    if runtime.name == agent.settings.runtime:
        return mode
    rights = runtimes(agent.settings.runtime).modes.get(mode, ASKS_FIRST)
    return runtime.nearest_mode(mode or DEFAULT, rights)


def is_same(runtimes: Runtimes, agent: Agent, mode: str, runtime: Runtime) -> bool:
    """Return whether the CLI `runtime` has a mode that allows exactly what a recorded mode does."""
    if runtime.name == agent.settings.runtime:
        return True
    modes = runtimes(agent.settings.runtime).modes
    rights = modes.get(mode) if mode else ASKS_FIRST
    return rights == runtime.modes.get(mode_in(runtimes, agent, mode, runtime))


def narrowed(
    runtimes: Runtimes, agent: Agent, mode: str, old: SessionRecord, observed: str | None
) -> str:
    """Return a recorded mode, or a narrower one that the user last chose in the session `old`."""
    usual = runtimes(agent.settings.runtime)
    runtime = runtime_of(runtimes, agent, old)
    if runtime.name == usual.name:
        return successors_mode(mode, observed, usual.modes)
    started = mode_in(runtimes, agent, mode, runtime)
    chosen = successors_mode(started, observed, runtime.modes)
    if chosen == started:
        return mode
    here = usual.nearest_mode(chosen, runtime.modes[chosen])
    return successors_mode(mode, here, usual.modes)

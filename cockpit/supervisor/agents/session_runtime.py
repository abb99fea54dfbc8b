"""The CLI that a session runs in: a handoff can move a job to another one."""

from __future__ import annotations

from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Runtimes


def runtime_of(runtimes: Runtimes, agent: Agent, session: SessionRecord | None) -> Runtime:
    """The runtime of a session's CLI; of the configured one for None and for old records."""
    name = (session.runtime if session else "") or agent.settings.runtime
    return agent.runtime if name == agent.runtime.name else runtimes(name)

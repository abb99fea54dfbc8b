"""The CLI of a session, which can differ from the configured one after a handoff.

The CLI belongs to the session, not to the agent, so that an undo or a restart reopens each session
in the CLI that wrote it.
"""

from __future__ import annotations

from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Runtimes


def runtime_of(runtimes: Runtimes, agent: Agent, session: SessionRecord | None) -> Runtime:
    """Return the runtime of the session's CLI; if no CLI is recorded, the configured runtime."""
    name = (session.runtime if session else "") or agent.settings.runtime
    return agent.runtime if name == agent.runtime.name else runtimes(name)

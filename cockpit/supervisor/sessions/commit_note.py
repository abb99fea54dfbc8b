"""A warning about an agent's commits, for the user who starts the agent."""

from __future__ import annotations

from cockpit.config.schema import AgentSettings
from cockpit.supervisor.dependencies import Dependencies


def commit_note(dependencies: Dependencies, settings: AgentSettings) -> str:
    """Return a warning if the agent cannot commit or must ask first; empty if it can commit."""
    capabilities = dependencies.runtimes(settings.runtime).capabilities
    return capabilities.commits.get(settings.permission_mode, "")

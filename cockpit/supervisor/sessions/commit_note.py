"""What the user should know about an agent's commits before the agent starts."""

from __future__ import annotations

from cockpit.config.schema import AgentSettings
from cockpit.supervisor.dependencies import Dependencies


def commit_note(dependencies: Dependencies, settings: AgentSettings) -> str:
    """Return a clause if the agent cannot commit, or not without asking; else an empty text."""
    capabilities = dependencies.runtimes(settings.runtime).capabilities
    return capabilities.commits.get(settings.permission_mode, "")

"""The verb `load`: read a configuration file and update its agents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.sessions.automatic_starts import AutomaticStarts
from cockpit.wire.verbs import (
    Done,
    Load,
)


class LoadHandler:
    """Loads configuration files (`Load`)."""

    def __init__(
        self, fleet: Fleet, automatic_starts: AutomaticStarts, changed: Callable[[Agent], None]
    ) -> None:
        self._fleet = fleet
        self._automatic_starts = automatic_starts
        self._changed = changed

    async def __call__(self, asked: Load) -> Done:
        """Read the user's own configuration file, and `config` if given; update the agents.

        Then starts the agents with `start = "auto"`. With an invalid file, nothing changes.
        """
        config = Path(asked.config) if asked.config else None
        loaded = await self._fleet.reload(config, named=asked.named)
        for agent in self._fleet:
            self._changed(agent)
        await self._automatic_starts.run()
        names = ", ".join(configured.name for configured in loaded.settings.agents) or "none"
        return Done(message=f"Loaded the configuration; its agents: {names}")

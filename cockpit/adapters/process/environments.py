"""Private files with values that may be secret: an agent's environment, its hooks, or URLs.

Such values are not stored in the database or the logs, which users attach to bug reports. One file
per owner, which is an agent or the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.private_file import write_private
from cockpit.core.ids import AgentName


class Environments:
    """Keeps each agent's secret values in a private file. The folder is created on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, agent: AgentName, table: Mapping[str, str]) -> None:
        """Write an agent's values; remove the file if there are none. Raises `OSError`."""
        if not table:
            self.forget(agent)
        elif table != self.recall(agent):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            write_private(self._path(agent), json.dumps(dict(table)).encode())

    def recall(self, agent: AgentName) -> dict[str, str]:
        """Return an agent's values; empty if there is no valid file."""
        with suppress(OSError, ValueError):
            held = json.loads(self._path(agent).read_bytes())
            if isinstance(held, dict):
                return {str(name): str(value) for name, value in held.items()}
        return {}

    def forget(self, agent: AgentName) -> None:
        """Remove an agent's file. Idempotent."""
        self._path(agent).unlink(missing_ok=True)

    def _path(self, agent: AgentName) -> Path:
        return self._folder / f"{agent}.json"

"""What agents get in their environment, or their hooks, apart from all that is shown or passed on.

A database or a log is sent along with a question one day; these files are not, and hold what the
user's configuration holds. One private file an agent, and none for an agent without any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.private_file import write_private
from cockpit.core.ids import AgentName


class Environments:
    """A folder of them; it is made when first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, agent: AgentName, table: Mapping[str, str]) -> None:
        """Write down an agent's table, in the place of an older one. Raises `OSError`."""
        if not table:
            self.forget(agent)
        elif table != self.recall(agent):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            write_private(self._path(agent), json.dumps(dict(table)).encode())

    def recall(self, agent: AgentName) -> dict[str, str]:
        """An agent's table; empty if it has none, or none that reads."""
        with suppress(OSError, ValueError):
            held = json.loads(self._path(agent).read_bytes())
            if isinstance(held, dict):
                return {str(name): str(value) for name, value in held.items()}
        return {}

    def forget(self, agent: AgentName) -> None:
        """Remove an agent's table. Twice is the same as once."""
        self._path(agent).unlink(missing_ok=True)

    def _path(self, agent: AgentName) -> Path:
        return self._folder / f"{agent}.json"

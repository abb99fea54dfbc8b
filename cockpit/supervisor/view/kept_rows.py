"""Keep the agents' last rows in a file, for the next start of the screen.

Until the next supervisor answers, the screen shows these rows and their time (`cli/first_rows.py`).
The file has no activities, notes or questions, because these texts may contain secrets. The file
can be deleted at any time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.files.private_file import write_private
from cockpit.ports.clock import Clock
from cockpit.wire.status import AgentStatus

_OF_CONTEXT = {"tokens", "window", "used", "band", "confidence", "turns_left"}


class KeptRows:
    """The file with the agents' last published rows."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._written: list[dict[str, Any]] | None = None

    def keep(self, rows: Sequence[AgentStatus]) -> None:
        """Write the rows with the current time, unless they are the same as at the last call.

        A failure is ignored: the rows are only a convenience.
        """
        agents = [
            {
                "name": row.name,
                "state": row.state,
                "context": row.context.model_dump(include=_OF_CONTEXT),
            }
            for row in rows
        ]
        if agents == self._written:
            return
        self._written = agents
        at = self._clock.now().timestamp()
        with suppress(OSError):
            write_private(self._file, json.dumps({"at": at, "agents": agents}).encode())

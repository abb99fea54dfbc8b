"""`GET /v1/caller`: the caller, as the supervisor identifies its process."""

from __future__ import annotations

from typing import Literal

from cockpit.wire.status import Wire


class CallerStatus(Wire):
    """The process at the other end of the connection. The supervisor determines these values; a
    caller cannot set them."""

    kind: Literal["user", "agent", "hook", "unknown"]
    name: str | None = None
    """Name of the agent that sent the request, from its pane or from a hook; null for the user and
    for unknown agents."""
    pid: int | None = None

"""`GET /v1/caller`: who calls, as the supervisor identifies the calling process."""

from __future__ import annotations

from typing import Literal

from cockpit.wire.status import Wire


class CallerStatus(Wire):
    """The process at the other end of the connection. The supervisor determines these values; a
    caller cannot set them."""

    kind: Literal["user", "agent", "hook", "unknown"]
    name: str | None = None
    """The agent that calls, or whose hook calls; null for the user, and for an agent that is no
    longer known."""
    pid: int | None = None

"""The options with which a handoff begins."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.details import HeldBack
from cockpit.core.handoff.states import Reason
from cockpit.supervisor.handoff.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffOptions:
    reason: Reason
    ask: bool
    """Whether the user is asked before the document is requested."""
    review: bool
    """Whether the user reviews the document before the session ends."""
    now: bool = False
    """Whether the agent is interrupted, instead of finishing its turn first."""
    given: str | None = None
    """The path of a document that is already written."""
    due: str = ""
    """Why the handoff is due; empty for a requested one."""
    because: HeldBack | None = None
    """Why the user is asked, if not because of the mode."""
    to: Target | None = None
    """The CLI and model of the new session; None for the configured ones."""
    move_to: str = ""
    """Name of the host to which the job moves; empty if the job stays on this machine."""

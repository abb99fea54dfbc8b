"""The state of an agent's handoff: due, in progress, or ended."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Handoff
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.blocked import Blocked


@dataclass(frozen=True, slots=True)
class Revived:
    """A failed handoff after which the old session was reopened."""

    at: float
    """When the handoff ended, in seconds of `Clock.steady`."""
    why: str
    to: str = ""
    """The runtime that failed to start; empty if it is the old session's runtime, or unknown."""


@dataclass(slots=True)
class HandoffProgress:
    """The state of one agent's handoff: due, in progress, or ended.

    `handoff` and `record` are either both set or both None.
    """

    handoff: Handoff | None = None
    record: HandoffRecord | None = None
    blocked: Blocked | None = None
    """Why the handoff is blocked, and the next retry; None if it is not blocked."""
    waits: str | None = None
    """Why an automatic handoff that is due is not started; else None."""
    deciding: bool = False
    """Whether hooks at the act threshold are running. No automatic handoff begins until they
    finish."""
    given: str | None = None
    """Path of the document that a hook wrote for the handoff that is due; else None."""
    hurried_by: str | None = None
    """Name of the hook that requested the handoff at once and without review; else None."""
    failed: str | None = None
    """Why the last handoff left no running session; None after the user has acted."""
    revived: Revived | None = None
    """The last handoff, if the old session was reopened because the new session failed; None after
    the user's next prompt."""
    arrival: HandoffRecord | None = None
    """The confirmed handoff that began the session. Includes the check of the session's first
    turns. None if there is none."""
    loop_over: str | None = None
    """A message that the agent's loop has no iterations left, with the next step; else None."""

    def take(self, handoff: Handoff, record: HandoffRecord) -> None:
        """Set the handoff in progress. The caller must have saved the record."""
        self.handoff, self.record, self.blocked = handoff, record, None

    def end(self) -> None:
        """Clear the handoff. Idempotent."""
        self.handoff = self.record = self.blocked = None

    def begin_session(self) -> None:
        """Clear `revived` and `loop_over`, because another session begins."""
        self.revived = self.loop_over = None

    def acknowledge(self) -> None:
        """Clear `failed`, because the user has acted."""
        self.failed = None

    def forget_decision(self) -> None:
        """Clear a hook's decision, because the handoff is no longer due. Idempotent."""
        self.given = self.hurried_by = None

    @property
    def details(self) -> HandoffDetails:
        return self.record.details if self.record else HandoffDetails()

    def note(self, details: HandoffDetails) -> None:
        """Replace the handoff's details in memory; does not save them."""
        assert self.record is not None
        self.record = replace(self.record, details=details)

    def set_revived(self, at: float, why: str, to: str = "") -> None:
        self.revived = Revived(at, why, to)

    def set_failed(self, why: str) -> None:
        self.failed = f"the handoff failed: {why}"

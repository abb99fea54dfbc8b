"""The handoff of an agent: due, under way, or how the last one left it. Written by `handoff/`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Handoff
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.blocked import Blocked


@dataclass(frozen=True, slots=True)
class Revived:
    """A handoff whose successor would not start."""

    at: float
    """When it ended, in steady seconds."""
    why: str


@dataclass(slots=True)
class HandoffProgress:
    """How far the handoff of one agent is. `handoff` and `record` are both set, or neither is."""

    handoff: Handoff | None = None
    record: HandoffRecord | None = None
    blocked: Blocked | None = None
    """Why it cannot go on for now; it is tried again."""
    waits: str | None = None
    """What holds a handoff back that is due by itself."""
    deciding: bool = False
    """Hooks are deciding what becomes of the act mark: nothing begins by itself meanwhile."""
    given: str | None = None
    """A document that a hook has written for the handoff that is due."""
    hurried_by: str | None = None
    """The hook that wants the handoff that is due at once and without review."""
    failed: str | None = None
    """Why the last handoff left nobody, until the user acts."""
    revived: Revived | None = None
    """That no new session started and the old one was reopened, until you send it a prompt."""
    loop_over: str | None = None
    """That its loop used up its rounds, with the next step."""

    def take(self, handoff: Handoff, record: HandoffRecord) -> None:
        """Take up a handoff, or its next state, after it was written down."""
        self.handoff, self.record, self.blocked = handoff, record, None

    def end(self) -> None:
        """Nothing is under way any more. Idempotent."""
        self.handoff = self.record = self.blocked = None

    def begin_session(self) -> None:
        """Another session begins: what became of the handoff before it is over."""
        self.revived = self.loop_over = None

    def acknowledge(self) -> None:
        """The user acted on a handoff that failed."""
        self.failed = None

    def forget_decision(self) -> None:
        """What a hook decided was about a handoff that is not due any more. Idempotent."""
        self.given = self.hurried_by = None

    @property
    def details(self) -> HandoffDetails:
        """What is kept beside the state of the handoff that is under way; empty for none."""
        return self.record.details if self.record else HandoffDetails()

    def note(self, details: HandoffDetails) -> None:
        """Keep this beside the handoff's state; the caller saves it."""
        assert self.record is not None
        self.record = replace(self.record, details=details)

    def was_revived(self, at: float, why: str) -> None:
        """No new session started, and the old one was reopened: you have to know."""
        self.revived = Revived(at, why)

    def has_failed(self, why: str) -> None:
        """The last handoff left it to the user what becomes of the agent."""
        self.failed = f"the handoff failed: {why}"

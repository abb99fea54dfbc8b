"""The handoff document and the earlier session from which a new agent continues."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.ids import SessionId
from cockpit.ports.records import JobRecord


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The session that the first session of a new agent follows, in the same job."""

    job: JobRecord
    session: SessionId


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The handoff document, decisions and session from which a new agent continues."""

    document: str
    """Absolute path at which the agent can read the document."""
    first_step: str | None
    standing: tuple[str, ...] = ()
    """Decisions and constraints that hold and are not in the document; see `Succession`."""
    predecessor: Predecessor | None = None
    """The session that the agent's first session follows; None for a new job."""

"""One result of `cockpit doctor`: a status, a text and a fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.errors import CockpitError

Level = Literal["fit", "note", "unfit"]
"""`note`: worth knowing, but not a problem. `unfit`: something will not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Text from other programs is already escaped."""

    topic: str
    level: Level
    said: str
    remedy: str = ""
    """How to fix it; empty only if nothing is wrong."""


def fit(topic: str, said: str) -> Finding:
    return Finding(topic, "fit", said)


def note(topic: str, said: str, remedy: str) -> Finding:
    return Finding(topic, "note", said, remedy)


def unfit(topic: str, said: str, remedy: str) -> Finding:
    return Finding(topic, "unfit", said, remedy)


def from_error(topic: str, error: CockpitError) -> Finding:
    """Convert one of cockpit's errors into a finding."""
    said = f"{error.title}. {error.detail}" if error.detail else error.title
    return unfit(topic, said, error.hint or "See cockpit/docs/troubleshooting.md.")

"""One result of `cockpit doctor`: a status, a text and a fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.errors import CockpitError

Level = Literal["fit", "note", "unfit"]
"""`fit`: no problem. `note`: worth knowing, but not a problem. `unfit`: something will not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result in the report of `cockpit doctor`: a line, and a second line for the fix."""

    topic: str
    level: Level
    said: str
    remedy: str = ""
    """How to fix the problem; empty for `fit`."""


def fit(topic: str, text: str) -> Finding:
    return Finding(topic, "fit", text)


def note(topic: str, text: str, remedy: str) -> Finding:
    return Finding(topic, "note", text, remedy)


def unfit(topic: str, text: str, remedy: str) -> Finding:
    return Finding(topic, "unfit", text, remedy)


def from_error(topic: str, error: CockpitError) -> Finding:
    """Convert one of cockpit's errors into a finding."""
    text = f"{error.title}. {error.detail}" if error.detail else error.title
    return unfit(topic, text, error.hint or "See cockpit/docs/troubleshooting.md.")

"""One thing that `cockpit doctor` looked at: how it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.errors import CockpitError

Level = Literal["fit", "note", "unfit"]
"""`note` is worth knowing and stops nothing; `unfit` does stop something."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Foreign text in it was made safe."""

    topic: str
    level: Level
    said: str
    remedy: str = ""
    """The next step; empty only where nothing is wrong."""


def fit(topic: str, said: str) -> Finding:
    return Finding(topic, "fit", said)


def note(topic: str, said: str, remedy: str) -> Finding:
    return Finding(topic, "note", said, remedy)


def unfit(topic: str, said: str, remedy: str) -> Finding:
    return Finding(topic, "unfit", said, remedy)


def from_error(topic: str, error: CockpitError) -> Finding:
    """What a part of cockpit would refuse with, as a finding."""
    said = f"{error.title}. {error.detail}" if error.detail else error.title
    return unfit(topic, said, error.hint or "See cockpit/docs/troubleshooting.md.")

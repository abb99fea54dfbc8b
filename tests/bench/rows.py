"""Measured figures: printed beside the one to reach, and kept for the table of the whole run."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

KEPT_IN = "COCKPIT_BENCH_ROWS"
"""Names the file that rows are added to, one JSON object a line; else they are printed only."""


@dataclass(frozen=True)
class Row:
    """One figure. `beside` has the same figure of others, measured in the same run."""

    bench: str
    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def missed(self) -> bool:
        """Whether there is a goal and the figure is on the wrong side of it."""
        over = self.at_most is not None and self.value > self.at_most
        return over or (self.at_least is not None and self.value < self.at_least)

    @property
    def goal(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def others(self) -> str:
        """Each with how many times our figure it is."""
        return ", ".join(
            f"{name} {figure(theirs)}" + (f" ({theirs / self.value:.1f}x)" if self.value else "")
            for name, theirs in self.beside.items()
        )


def row(
    what: str,
    value: float,
    unit: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    beside: Mapping[str, float] | None = None,
) -> Row:
    """Print one line of a bench and keep it."""
    made = Row(_bench(), what, value, unit, at_most, at_least, beside or {})
    words = [f"  {what:<58} {figure(value):>8} {unit:<5}", f"{made.goal:<7}"]
    words += ["MISSED"] * made.missed + [made.others]
    print(" ".join(words).rstrip(), flush=True)
    _keep(asdict(made))
    return made


def note(text: str) -> None:
    """Say why something was not measured, or what a figure leaves out."""
    print(f"  ({text})", flush=True)
    _keep({"bench": _bench(), "note": text})


def kept(file: Path) -> tuple[list[Row], list[tuple[str, str]]]:
    """The rows of a run, and its notes with their benches."""
    told = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [Row(**one) for one in told if "note" not in one]
    return rows, [(one["bench"], one["note"]) for one in told if "note" in one]


def figure(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if 0 < value < 1 else f"{value:.1f}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share (0 to 1) of the values does not exceed; needs two or more."""
    return statistics.quantiles(values, n=1000, method="inclusive")[min(998, int(share * 1000))]


def _bench() -> str:
    return os.environ.get("COCKPIT_BENCH", "")


def _keep(told: Mapping[str, object]) -> None:
    if file := os.environ.get(KEPT_IN):
        with Path(file).open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(told) + "\n")

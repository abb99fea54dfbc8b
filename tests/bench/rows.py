"""One measured figure, beside the one to reach."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def row(what: str, value: float, unit: str, reach: str = "") -> None:
    """Print one line of a bench."""
    figure = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    print(f"  {what:<58} {figure:>9} {unit:<6} {reach}".rstrip(), flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share (0 to 1) of the values does not exceed; needs two or more."""
    return statistics.quantiles(values, n=1000, method="inclusive")[min(998, int(share * 1000))]

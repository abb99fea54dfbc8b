"""Parse and format durations and sizes: `"180s"`, `"10m"`, `"24h"`, `"0"`, `"200k"`.

Thresholds have more formats and are in `core.bands`.
"""

from __future__ import annotations

import math
import re

_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|h|d|)")
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)\s*([kKmM]?)")
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000}


def duration(written: object) -> float:
    """Parse a duration and return seconds. A bare number is in seconds.

    Raises `ValueError` for any other value.
    """
    if isinstance(written, int | float) and not isinstance(written, bool):
        if math.isfinite(written) and written >= 0:
            return float(written)
    elif isinstance(written, str) and (match := _DURATION.fullmatch(written.strip())):
        seconds = float(match[1]) * _UNITS[match[2]]
        if math.isfinite(seconds):
            return seconds
    raise ValueError('expected a duration such as "90s", "10m", "24h" or "0"')


def spelled_duration(seconds: float) -> str:
    """Format seconds in the largest unit that gives a whole number.

    Uses minutes only from 10 minutes on, and days only from 3 days on.
    """
    if seconds == 0:
        return "0"
    if not float(seconds).is_integer():
        return f"{seconds:g}s"
    total = int(seconds)
    for unit, length, least in (("d", 86400, 259200), ("h", 3600, 3600), ("m", 60, 600)):
        if total >= least and total % length == 0:
            return f"{total // length}{unit}"
    return f"{total}s"


def size(written: object) -> int:
    """Parse a number of tokens: `"200k"` is 200,000.

    Raises `ValueError` for any other value.
    """
    if isinstance(written, int) and not isinstance(written, bool) and written >= 0:
        return written
    if isinstance(written, str) and (match := _SIZE.fullmatch(written.strip().replace("_", ""))):
        return round(float(match[1]) * _SCALES[match[2].lower()])
    raise ValueError('expected a number of tokens such as 200000 or "200k"')

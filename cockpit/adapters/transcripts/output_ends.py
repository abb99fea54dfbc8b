"""Shorten a tool's output to its end, which contains the line with the result."""

from __future__ import annotations

TAIL_KEPT = 1_000
"""Maximum characters that `end_of` returns."""


def end_of(output: str, kept: int) -> str:
    """Return the end of an output: at most `TAIL_KEPT` characters, and none of the first `kept`."""
    return output[max(kept, len(output) - TAIL_KEPT) :]

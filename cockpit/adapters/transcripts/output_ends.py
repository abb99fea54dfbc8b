"""The end of a tool's output, where the line that counts is."""

from __future__ import annotations

TAIL_KEPT = 1_000
"""Maximum characters of the end of an output."""


def end_of(output: str, kept: int) -> str:
    """Return the end of an output of which the first `kept` characters are kept already."""
    return output[max(kept, len(output) - TAIL_KEPT) :]

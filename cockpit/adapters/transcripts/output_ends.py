"""Return the end of a tool's output, which contains the line with the result."""

from __future__ import annotations

TAIL_KEPT = 1_000
"""Maximum characters of the end of an output."""


def end_of(output: str, kept: int) -> str:
    """Return at most the last `TAIL_KEPT` characters of an output, without its first `kept`
    characters."""
    return output[max(kept, len(output) - TAIL_KEPT) :]

"""A number with its noun, for sentences that are right for one as well as for several."""

from __future__ import annotations


def counted(number: int, one: str, several: str | None = None) -> str:
    """`0 turns`, `1 turn`, `2 turns`; `several` where it is not `one` with an s."""
    return f"{number} {one if number == 1 else several or one + 's'}"

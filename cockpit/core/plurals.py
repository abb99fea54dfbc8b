"""Format numbers with a noun in singular or plural."""

from __future__ import annotations


def counted(number: int, one: str, several: str | None = None) -> str:
    """Format a number with its noun: `1 turn`, `2 turns`. `several` is an irregular plural."""
    return f"{number} {one if number == 1 else several or one + 's'}"

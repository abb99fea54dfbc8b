"""The screens that lie behind the fleet's: imported when a key first opens one, or ahead of it.

They cost a fifth of a first start, and no first frame shows any of them. `load` is for the quiet
moment after that frame, so that no key waits for an import either. It opens nothing.
"""

from __future__ import annotations

from importlib import import_module

NAMES = (
    "agent", "confirm", "help", "history", "inbox", "own_keys", "review", "send", "settings",
    "start", "worktrees",
)  # fmt: skip
"""Modules of this folder."""


def load() -> None:
    """Import them all. May run in a thread; twice is the same as once."""
    for name in NAMES:
        import_module(f"{__package__}.{name}")

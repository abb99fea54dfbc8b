"""Import the screens that the first frame does not need, and the types of events for the bell.

Importing these screens takes a fifth of the time of a first start. `load` imports them after the
first frame, so that no key waits for an import.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "agent.screen", "confirm", "elsewhere.screen", "fleet.marked", "fleet.side_panels", "help",
    "history.screen", "inbox.screen", "permission.screen", "rename", "settings.own_keys",
    "review.screen", "send", "settings.screen", "start.screen", "worktrees.screen",
)  # fmt: skip
"""Names of the screens' modules, relative to this package."""


def load() -> None:
    """Import all lazy screens. May run in a thread; idempotent."""
    import_module("cockpit.core.event_topics")
    for name in NAMES:
        import_module(f"{__package__}.{name}")


def is_loaded() -> bool:
    """Return whether every lazy screen has been imported."""
    return all(f"{__package__}.{name}" in sys.modules for name in NAMES)

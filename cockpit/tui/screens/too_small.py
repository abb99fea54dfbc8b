"""The message on a terminal that is too small for any screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

LEAST = (20, 5)
"""The smallest terminal that screens can use, in columns and lines."""


class TooSmall(Screen[None]):
    """Shows the minimum size until the terminal is large enough."""

    DEFAULT_CSS: ClassVar[str] = """
    TooSmall { background: $background; }
    """

    def compose(self) -> ComposeResult:
        columns, lines = LEAST
        yield Static(f"too small:\nneeds {columns}x{lines}", markup=False)

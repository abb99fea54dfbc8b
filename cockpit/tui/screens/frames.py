"""Decide whether a screen draws frames around its lists and panes."""

from __future__ import annotations

from textual.dom import DOMNode

FRAMED = (90, 30)
"""Minimum columns and lines of a terminal in which frames leave enough room for their contents."""


def has_frames(screen: DOMNode) -> bool:
    """Return whether the terminal has room for frames.

    A screen on a slow connection has no frames: each cell of a frame takes three bytes.
    """
    size, is_low = screen.app.size, getattr(screen.app, "is_low", False)
    return size.width >= FRAMED[0] and size.height >= FRAMED[1] and not is_low


def show_frames(screen: DOMNode) -> bool:
    """Set the class `-framed` for the terminal's size; return `has_frames`. Idempotent."""
    framed = has_frames(screen)
    screen.set_class(framed, "-framed")
    return framed

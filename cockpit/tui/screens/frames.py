"""Decide whether a screen draws frames around its lists and panes."""

from __future__ import annotations

from textual.dom import DOMNode

FRAMED = (90, 30)
"""Minimum columns and lines of a terminal in which frames leave enough room for their contents."""


def show_frames(screen: DOMNode) -> bool:
    """Set the class `-framed` for the terminal's size; return whether there are frames.

    Idempotent.
    """
    size = screen.app.size
    framed = size.width >= FRAMED[0] and size.height >= FRAMED[1]
    screen.set_class(framed, "-framed")
    return framed

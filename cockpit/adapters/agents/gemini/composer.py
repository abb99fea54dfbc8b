"""Read from the screen whether Gemini's prompt box is empty.

The box is between a line of lower half blocks and a line of upper half blocks, near the bottom.
Earlier prompts on the screen look the same. While a dialog is open, there is no box, and the
dialog's frame is below the earlier prompts.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

SUGGESTION = "Type your message or @path/to/file"
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_SIGN = re.compile(r"\s*[>*!](\s|\Z)")
_TOP, _BOTTOM = "▄", "▀"
_FRAME = frozenset("│╭╰")


def composer_empty(screen: Screen) -> bool | None:
    """Return whether the prompt box has no typed text; None if there is no prompt box."""
    lines = [_SGR.sub("", line).rstrip() for line in screen.lines]
    typed: list[str] | None = None
    for line in reversed(lines):
        text = line.strip()
        if typed is None:
            if _FRAME & set(text):
                return None
            if text and not text.strip(_BOTTOM):
                typed = []
        elif text and not text.strip(_TOP):
            return _is_empty(typed)
        else:
            typed.insert(0, line)
    return None


def _is_empty(lines: list[str]) -> bool | None:
    sign = _SIGN.match(lines[0]) if lines else None
    if sign is None:
        return None
    text = "\n".join([lines[0][sign.end() :], *lines[1:]]).strip()
    return not text or text == SUGGESTION

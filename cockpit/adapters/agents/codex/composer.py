"""Read from the screen whether Codex's prompt box is empty.

The box is the last line that begins with `›`. A suggestion in the box is faint. While a
dialog is open, there is no such line, or the line is one of the dialog's choices.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

PROMPT_SIGN = "›"
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_CHOICE = re.compile(r"\s*\d+\. ")


def composer_empty(screen: Screen) -> bool | None:
    """Return whether the prompt box has no typed text; None if there is no prompt box."""
    for line in reversed(screen.lines):
        plain = _SGR.sub("", line)
        if plain.startswith(PROMPT_SIGN):
            typed = plain.removeprefix(PROMPT_SIGN)
            return None if _CHOICE.match(typed) else not _strong_text(line)
    return None


def _strong_text(line: str) -> str:
    faint, text = False, ""
    for place, piece in enumerate(_SGR.split(line)):
        if place % 2:
            faint = _is_faint(faint, piece)
        elif not faint:
            text += piece
    return text.strip().removeprefix(PROMPT_SIGN).strip()


def _is_faint(faint: bool, parameters: str) -> bool:
    numbers = iter(parameters.split(";"))
    for number in numbers:
        match number.partition(":")[0]:
            case "" | "0" | "22":
                faint = False
            case "2":
                faint = True
            case "38" | "48" | "58" if ":" not in number:
                for _ in range({"5": 1, "2": 3}.get(next(numbers, ""), 0)):
                    next(numbers, None)
    return faint

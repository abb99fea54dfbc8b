"""Read from the screen whether Claude Code's prompt box is empty.

Hooks, transcripts and status files do not report typed text. The box does not show whether the
agent is busy.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

PROMPT_SIGN = "❯"
"""The prompt box begins with this sign. Other signs mean other kinds of input, such as a shell
command."""

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_RULE = re.compile(r"─{8,}")
_PADDING = " \xa0"


def composer_empty(screen: Screen) -> bool | None:
    """Return whether the prompt box has no typed text.

    None if there is no prompt box, or if the box does not begin with `PROMPT_SIGN`. A suggestion of
    the CLI is not typed text. The box is between the last two horizontal rules on the screen. An
    open dialog replaces the box.
    """
    plain = [_SGR.sub("", line).rstrip() for line in screen.lines]
    rules = [row for row, line in enumerate(plain) if _RULE.match(line)]
    if len(rules) < 2:
        return None
    top, bottom = rules[-2:]
    if bottom - top < 2 or not plain[top + 1].startswith(PROMPT_SIGN):
        return None
    return not any(_typed_text(line) for line in screen.lines[top + 1 : bottom])


def _typed_text(line: str) -> str:
    """Return the part of a line that the user typed, without a suggestion of the CLI.

    A suggestion is faint, except for the letter at the cursor.
    """
    strong = at_cursor = faint = ""
    style: set[str] = set()
    for place, piece in enumerate(_SGR.split(line)):
        if place % 2:
            style = _apply_sgr(style, piece)
        elif "faint" in style:
            faint += piece
        elif "reverse" in style:
            at_cursor += piece
        else:
            strong += piece
    strong = strong.lstrip().removeprefix(PROMPT_SIGN).strip(_PADDING)
    return strong or ("" if faint.strip(_PADDING) else at_cursor.strip(_PADDING))


def _apply_sgr(style: set[str], parameters: str) -> set[str]:
    style = set(style)
    numbers = iter(parameters.split(";"))
    for number in numbers:
        match number.partition(":")[0]:
            case "" | "0":
                style.clear()
            case "2":
                style.add("faint")
            case "7":
                style.add("reverse")
            case "22":
                style.discard("faint")
            case "27":
                style.discard("reverse")
            case "38" | "48" | "58" if ":" not in number:
                for _ in range({"5": 1, "2": 3}.get(next(numbers, ""), 0)):
                    next(numbers, None)
    return style

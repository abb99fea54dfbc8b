"""Parse captured screen lines into text and colours.

tmux returns lines with SGR sequences, whose state continues from one line to the next. This module
makes the lines safe and splits them into runs of one style, fast enough for every changed line. The
runs depend only on the line and the initial style, so these two can be a cache key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.safetext import without_controls, without_escapes

Color = int | tuple[int, int, int] | None
"""An index from 0 to 255, red-green-blue, or None for the terminal's default."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a run of text. Blinking and underline colours are not supported."""

    fg: Color = None
    bg: Color = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Style()

_SGR = re.compile(r"\x1b\[([0-9;:]{0,80})m")
_ATTRIBUTES: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}
_SUSPECT = re.compile("[^\x20-\x7e\xa0-\xac\xae-\u02ff\u2500-\u27bf]")
"""Matches a character that may have to be removed: all except common letters and line drawings."""


_DRAWING = str.maketrans(
    "`afgijklmnopqrstuvwxyz{|}~",
    "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
)
"""The characters for letters between SO and SI, which older programs use to draw lines."""


def screen(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of one capture, made safe; letters between SO and SI become line drawings.

    The state of SO and SI continues from one line to the next.
    """
    drawing = False
    safe_lines = []
    for line in lines:
        if drawing or "\x0e" in line:
            line, drawing = _drawn(line, drawing)
        safe_lines.append(sanitised(line))
    return tuple(safe_lines)


def sanitised(line: str) -> str:
    """Return the safe text and the SGR sequences of the line; everything else is removed."""
    if not _SUSPECT.search(line):
        return line
    parts = _SGR.split(line)
    parts[::2] = [_text(part) for part in parts[::2]]
    parts[1::2] = [f"\x1b[{part}m" for part in parts[1::2]]
    return "".join(parts)


def runs(line: str, state: Style = PLAIN) -> tuple[list[tuple[str, Style]], Style]:
    """Split a line into runs of one style; return the runs and the style at the end of the line.

    `state` is the style at the beginning. Neighbouring runs differ, and none is empty. Other escape
    sequences are removed.
    """
    if "\x1b" not in line:
        text = _text(line)
        return ([(text, state)] if text else []), state
    pieces: list[tuple[str, Style]] = []
    style = state
    for number, part in enumerate(_SGR.split(line)):
        if number % 2:
            style = _after(part, style)
            continue
        text = _text(part)
        if not text:
            continue
        if pieces and pieces[-1][1] == style:
            pieces[-1] = (pieces[-1][0] + text, style)
        else:
            pieces.append((text, style))
    return pieces, style


def _text(part: str) -> str:
    if not _SUSPECT.search(part):
        return part
    return without_controls(without_escapes(part.replace("\t", " ").replace("\n", " ")))


def _drawn(line: str, drawing: bool) -> tuple[str, bool]:
    """Return the line without SO and SI, with the letters between them replaced by line drawings.

    `drawing`: whether an earlier line has an SO without SI. Also returns this value for the next
    line.
    """
    out = []
    for part in re.split("([\x0e\x0f])", line):
        if part in ("\x0e", "\x0f"):
            drawing = part == "\x0e"
        elif drawing:
            pieces = re.split(r"(\x1b\[[0-9;:]*m)", part)
            pieces[::2] = [piece.translate(_DRAWING) for piece in pieces[::2]]
            out.extend(pieces)
        else:
            out.append(part)
    return "".join(out), drawing


@lru_cache(maxsize=4096)
def _after(parameters: str, style: Style) -> Style:
    codes = (
        [int(number) if number else 0 for number in parameter.split(":")]
        for parameter in parameters.split(";")
    )
    for code in codes:
        style = _applied(code, codes, style)
    return style


def _applied(code: list[int], rest: Iterator[list[int]], style: Style) -> Style:
    kind = code[0]
    if kind == 0:
        return PLAIN
    if kind in _ATTRIBUTES:
        # 4:0 is the one sub-parameter that turns an attribute off.
        changes = {"underline": False} if code[:2] == [4, 0] else _ATTRIBUTES[kind]
        return replace(style, **changes)
    if kind in (38, 48, 58):
        color = _extended(code[1:], rest)
        if kind == 58 or color is None:
            return style
        return replace(style, fg=color) if kind == 38 else replace(style, bg=color)
    if 30 <= kind <= 39:
        return replace(style, fg=None if kind == 39 else kind - 30)
    if 40 <= kind <= 49:
        return replace(style, bg=None if kind == 49 else kind - 40)
    if 90 <= kind <= 97:
        return replace(style, fg=kind - 82)
    if 100 <= kind <= 107:
        return replace(style, bg=kind - 92)
    return style


def _extended(inside: list[int], rest: Iterator[list[int]]) -> Color:
    """Return a colour, from sub-parameters or from the next parameters; None if invalid."""
    numbers = inside or [next(rest, [0])[0]]
    if numbers[0] == 5:
        index = numbers[1] if len(numbers) > 1 else next(rest, [-1])[0]
        return index if 0 <= index <= 255 else None
    if numbers[0] == 2:
        # With sub-parameters, a colour space may come before the three values.
        parts = numbers[-3:] if len(numbers) > 3 else [next(rest, [-1])[0] for _ in range(3)]
        red, green, blue = parts
        return (red, green, blue) if all(0 <= part <= 255 for part in parts) else None
    return None

"""A piece of text with a role, and functions on such pieces. Widgets map each role to a style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size


class Span(NamedTuple):
    text: str
    role: str = ""
    """A component class of the widget (`name`, `muted`, `bar-act`); empty: plain text."""


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Cut the text with an ellipsis, or pad it, to exactly `width` terminal cells."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)
    padding = " " * (width - length)
    return padding + text if right else text + padding


def fit_words(text: str, width: int) -> str:
    """Fit the text into `width` cells like `fit`, but cut it after a word or path component.

    If cutting there would leave more than half of the width empty, cuts inside the word.
    """
    if cell_len(text) <= width or width < 2:
        return fit(text, width)
    kept = set_cell_size(text, width - 1)
    ends = [index for index, sign in enumerate(kept) if sign in " /"]
    if text[len(kept.rstrip()) : len(kept.rstrip()) + 1] == " ":
        ends.append(len(kept.rstrip()))
    if ends and cell_len(kept[: ends[-1]]) * 2 >= width:
        kept = kept[: ends[-1] + (kept[ends[-1] : ends[-1] + 1] == "/")]
    return fit(kept.rstrip() + "…", width)


def fit_path(text: str, width: int) -> str:
    """Like `fit`, but cut at the beginning, so that the file's name stays."""
    if cell_len(text) <= width or width < 2:
        return fit(text, width)
    kept = text
    while cell_len(kept) >= width:
        kept = kept[1:]
    return fit(f"…{kept}", width)


def cut(spans: Sequence[Span], width: int) -> list[Span]:
    """Return the spans, cut with an ellipsis to at most `width` cells."""
    shown: list[Span] = []
    room = width
    for index, span in enumerate(spans):
        length = cell_len(span.text)
        is_last = index == len(spans) - 1
        if length > room or (length == room and not is_last):
            return [*shown, span._replace(text=fit(f"{span.text} ", room))]
        shown.append(span)
        room -= length
    return shown


def merged(spans: list[Span]) -> list[Span]:
    """Return the spans without empty ones, and with neighbours of the same role joined.

    Every span costs bytes on the terminal.
    """
    merged: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if merged and merged[-1].role == span.role:
            merged[-1] = Span(merged[-1].text + span.text, span.role)
        else:
            merged.append(span)
    return merged


def without_rule(spans: list[Span]) -> list[Span]:
    """Return a rule whose final run of `─` is cut to two cells and padded with blanks.

    Unchanged if the rule does not end with such a run.
    """
    *before, last = spans
    drawn = last.text[:2]
    if drawn != "──" or last.text.strip("─"):
        return spans
    return [*before, Span(drawn, last.role), Span(" " * (len(last.text) - 2))]


def plain(spans: list[Span]) -> str:
    """Return the text of the spans, without roles."""
    return "".join(span.text for span in spans)


def broken(text: str, width: int) -> list[str]:
    """Wrap a line, between words if possible; every piece has the line's indent."""
    indent = " " * (len(text) - len(text.lstrip()))
    pieces, current = [], indent
    for word in text.split():
        gap = "" if current == indent else " "
        while cell_len(current + gap + word) > width:
            if current != indent:
                pieces.append(current)
                current, gap = indent, ""
                continue
            cut = fit(word, max(1, width - cell_len(indent)) + 1).rstrip("…").rstrip()
            cut = cut or word[:1]
            pieces.append(indent + cut)
            word = word[len(cut) :]
        current += gap + word
    return [*pieces, current] if current.strip() or not pieces else pieces

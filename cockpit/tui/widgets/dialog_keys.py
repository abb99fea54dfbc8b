"""The clickable key hints at the bottom of a dialog."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from rich.cells import cell_len
from textual import events
from textual.widget import Widget

from cockpit.config.key_names import key_name
from cockpit.tui.present.span import Span
from cockpit.tui.widgets.line import OneLine

_HINT = re.compile(r"(\S+)(?: \S+)*")


class ColouredKeys(OneLine):
    """Key hints with coloured keys; a click presses the key. Hints that do not fit are left out."""

    def __init__(self, keys: Sequence[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(self._fitting, id=id)
        self._hints = keys
        self._text = "  ".join(f"{key} {word}" for key, word in keys)

    def _fitting(self, width: int) -> list[Span]:
        spans: list[Span] = []
        used = 0
        for key, word in self._hints:
            gap = "  " if spans else ""
            used += cell_len(f"{gap}{key} {word}")
            if used > width:
                break
            spans += [Span(f"{gap}{key}", "key"), Span(f" {word}", "muted")]
        return spans

    def on_click(self, event: events.Click) -> None:
        _press_at(self, self._text, event.x)


class DialogKeys(ColouredKeys):
    """Key hints read from a text. Each hint is `KEY words`; two or more spaces separate hints."""

    def __init__(self, text: str) -> None:
        hints = (match[0].partition(" ") for match in _HINT.finditer(text))
        super().__init__([(key, word) for key, _, word in hints])
        self.add_class("dialog--keys")


def _press_at(widget: Widget, text: str, column: int) -> None:
    """Press the key of the hint at `column`, if any."""
    for match in _HINT.finditer(text):
        start = cell_len(text[: match.start()])
        if start <= column < start + cell_len(match[0]):
            # A hint for several keys, such as ↑↓, presses none.
            with suppress(ValueError):
                widget.app.simulate_key(key_name(match[1]))

"""A field for a threshold; the keys left and right change the value until the user types."""

from __future__ import annotations

import re

from textual.events import Key

from cockpit.tui.widgets.field import Field

_WRITTEN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(\s*(%|k|m)?(?:\s+left)?)", re.IGNORECASE)
_STEPS = {"%": 1.0, "k": 5.0, "m": 0.1, "": 5000.0}
"""The size of one step in the threshold's unit, by unit; the empty unit stands for tokens."""


class ThresholdField(Field):
    """A text field in which left and right lower and raise a threshold.

    In an empty field, a step starts from the value in the placeholder. In text that the user typed,
    left and right move the cursor.
    """

    _own = ""
    """The value that the last step has written."""

    async def _on_key(self, event: Key) -> None:
        direction = {"left": -1, "right": 1}.get(event.key, 0)
        value = self._next(direction) if direction else None
        if value is None:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self._own = self.value = value
        self.cursor_position = len(value)

    def _next(self, direction: int) -> str | None:
        """Return the value after a step; None if left and right move the cursor instead."""
        if not self.value:
            return stepped(self.placeholder.removeprefix("→ "), direction)
        return stepped(self.value, direction) if self.value == self._own else None


def stepped(text: str, direction: int) -> str | None:
    """Return a threshold one step lower (-1) or higher (1); at its limit, the same threshold.

    None if the text is not a threshold.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return None
    unit = (match[3] or "").lower()
    number = round(float(match[1]) + direction * _STEPS[unit], 6)
    if number <= 0 or (unit == "%" and number > 100):
        return text.strip()
    return f"{number:.10g}{match[2]}"

"""When a key may answer a dialog: only after the screen has shown exactly this dialog.

A key that was typed ahead, or pressed at the moment when a dialog appeared, was meant for something
else.
"""

from __future__ import annotations

from dataclasses import dataclass

READ = 0.4
"""Seconds for which a dialog must have been shown. Nobody reads and answers faster."""


@dataclass(slots=True)
class Arming:
    """The dialog that is drawn, and since when. Times are seconds of one monotonic clock."""

    _drawn: str | None = None
    _since: float = 0.0
    _given: bool = False

    def drawn(self, identity: str | None, at: float) -> None:
        """Note that a frame with this dialog was drawn; None for no dialog. Repeats change
        nothing."""
        if identity != self._drawn:
            self._drawn, self._since, self._given = identity, at, False

    def admits(self, identity: str | None, key_at: float) -> bool:
        """Return whether a key of this time may answer this dialog."""
        return (
            identity is not None
            and identity == self._drawn
            and not self._given
            and key_at >= self._since + READ
        )

    def answered(self) -> None:
        """Note that the drawn dialog got an answer: it takes no second one."""
        self._given = True

    def refused(self) -> None:
        """Note that nothing was pressed for the answer: the dialog takes another one."""
        self._given = False

"""Decide when a key may answer a dialog: only after the screen has shown exactly this dialog.

A key that was typed ahead, or pressed at the moment when a dialog appeared, was meant for something
else.
"""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass

READ = 0.4
"""Seconds for which a dialog must have been shown. Reading and answering takes longer."""


@dataclass(slots=True)
class Arming:
    """The dialog that is shown, and since when. Times are seconds of one monotonic clock."""

    _drawn: str | None = None
    _since: float = 0.0
    _given: bool = False

    def drawn(self, identity: str | None, at: float) -> None:
        """Record that a frame with this dialog was drawn; None for no dialog. Idempotent."""
        if identity != self._drawn:
            self._drawn, self._since, self._given = identity, at, False

    def admits(self, identity: str | None, key_at: float) -> bool:
        """Return whether a key pressed at this time may answer this dialog."""
        return (
            identity is not None
            and identity == self._drawn
            and not self._given
            and key_at >= self._since + READ
        )

    def answered(self) -> None:
        """Record that the shown dialog was answered, so that no second key can answer it."""
        self._given = True

    def refused(self) -> None:
        """Record that no key was sent for the answer, so that the dialog can be answered again."""
        self._given = False

"""Decide whether a key may answer a dialog: only `READ` seconds after the dialog was shown.

A key that was typed ahead, or pressed at the moment when a dialog appeared, was meant for something
else.
"""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass

READ = 0.4
"""Seconds for which a dialog must be shown before a key can answer it. Reading a dialog and
answering it takes users longer."""


@dataclass(slots=True)
class Arming:
    """The dialog on the screen, and when it appeared. Times are in monotonic seconds."""

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
        """Record that the shown dialog was answered, so that further keys are not admitted."""
        self._given = True

    def refused(self) -> None:
        """Record that the answer did not reach the CLI, so that the next key is admitted again."""
        self._given = False

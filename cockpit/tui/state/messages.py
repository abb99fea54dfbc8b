"""Show one message at a time: equal messages are counted, and a key dismisses the message."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass

SAME = 10.0
"""Seconds after a message in which an equal message is shown with a count, such as `×2`."""
READ = 0.8
"""Seconds before a key can dismiss a message, so that keys typed ahead do not hide the message."""
UNTIL_A_KEY = 86_400.0
"""Seconds for which an error is shown if no key is pressed."""


@dataclass(slots=True)
class Messages:
    """The newest message, and how often it was repeated. Times are in monotonic seconds."""

    _text: str = ""
    _count: int = 0
    _at: float = float("-inf")

    def counted(self, text: str, now: float) -> str:
        """Return the text, with the count (`×2`, `×3`) if it repeats the previous message."""
        again = text == self._text and now - self._at < SAME
        self._text, self._at = text, now
        self._count = self._count + 1 if again else 1
        return f"{text}  ×{self._count}" if again else text

    def is_read(self, pressed_at: float) -> bool:
        """Return whether a key that was pressed at this time may dismiss the newest message.

        The time of the key counts, not the time at which a busy screen handles it.
        """
        return pressed_at - self._at >= READ

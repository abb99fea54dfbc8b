"""Detect keys that arrive in one burst, such as an unbracketed paste.

Most terminals mark pastes (bracketed paste). A Linux console, an old `screen` or a program that
writes into the terminal does not: every pasted letter is a key. Keys typed ahead over a slow
connection also arrive together, and cannot be distinguished from a paste. So the keys of a burst
still run in order. Only destructive actions are refused from a burst with `PASTE` or more distinct
characters, and a confirmation is ignored if it arrives together with another key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from textual.events import Key

from cockpit.core.deferred_dataclass import dataclass

if TYPE_CHECKING:
    from textual.message import Message
    from textual.message_pump import MessagePump

TOGETHER = 0.02
"""Maximum seconds between two reads of one burst. Fast typing takes 40 ms per key."""
PASTE = 4
"""Minimum number of distinct characters in a burst that looks pasted; a held key has only one."""
_MARK = "cockpit_burst"


@dataclass(slots=True)
class Burst:
    """Keys that arrived together. May grow while its first keys are being handled."""

    keys: int = 0
    characters: set[str] = field(default_factory=set)
    reported: bool = False
    """Whether the user was told that an action was ignored."""

    @property
    def is_paste(self) -> bool:
        return len(self.characters) >= PASTE


class PasteGuard:
    """Marks each key with its burst. Call `mark` with all events of one read."""

    def __init__(self) -> None:
        self._burst = Burst()
        self._last = float("-inf")

    def mark(self, events: Iterable[Message], at: float) -> None:
        """Mark each key event with its burst. `at`: time of the read, in monotonic seconds."""
        keys = [event for event in events if isinstance(event, Key)]
        if not keys:
            return
        if at - self._last > TOGETHER:
            self._burst = Burst()
        self._last = at
        for key in keys:
            self._burst.keys += 1
            if key.character:
                self._burst.characters.add(key.character)
            vars(key)[_MARK] = self._burst


def burst_of(event: object) -> Burst | None:
    """Return the burst of a key; None for a key that did not come from a terminal."""
    burst = getattr(event, _MARK, None)
    return burst if isinstance(burst, Burst) else None


def key_in_hand(pump: MessagePump) -> Burst | None:
    """Return the burst of the key being handled now; None without a key from a terminal."""
    burst: Any = getattr(pump.app, "burst", None)
    return burst if isinstance(burst, Burst) else None


def looked_like_a_paste(burst: Burst | None, what: str) -> str | None:
    """Return why the destructive action titled `what` is refused; None if it is allowed.

    Each burst gets the reason only once; after that, the returned text is empty.
    """
    if burst is None or not burst.is_paste:
        return None
    if burst.reported:
        return ""
    burst.reported = True
    return (
        f"{burst.keys} keys arrived at once, like a paste, so \u201c{what}\u201d was ignored. "
        "Press the key alone."
    )

"""Keys that came all at once, as those of a paste do where the terminal does not mark it as one.

Most pastes come marked. A Linux console, an old `screen` or a program that writes into the
terminal mark nothing: every letter is a key then. Keys that were typed ahead over a slow line come
together too, and cannot be told from them; so both keep their order and act, and only what weighs
is not taken from many of them, and no second key that came together with the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textual.events import Key

if TYPE_CHECKING:
    from textual.message import Message
    from textual.message_pump import MessagePump

TOGETHER = 0.02
"""Seconds: what arrives sooner after the last key is part of the same burst. Fingers take 40 ms."""
PASTE = 4
"""Different characters in one burst that are taken for pasted. A held key is one, however long."""
_MARK = "cockpit_burst"


@dataclass(slots=True)
class Burst:
    """What came together. It may grow while its first keys are looked at already."""

    keys: int = 0
    characters: set[str] = field(default_factory=set)
    told: bool = False
    """The pilot has been told that something was not taken."""

    @property
    def is_paste(self) -> bool:
        return len(self.characters) >= PASTE


class Bursts:
    """Marks each key with the burst it came in. Called with everything that one read gave."""

    def __init__(self) -> None:
        self._burst = Burst()
        self._last = float("-inf")

    def mark(self, events: Iterable[Message], at: float) -> None:
        """`at` is when they were read, in monotonic seconds."""
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
    """The burst that a key came in; None for what came by no terminal."""
    found = getattr(event, _MARK, None)
    return found if isinstance(found, Burst) else None


def key_in_hand(pump: MessagePump) -> Burst | None:
    """The burst of the key that the application acts on now; None when it acts on no key."""
    found: Any = getattr(pump.app, "burst", None)
    return found if isinstance(found, Burst) else None


def looked_like_a_paste(burst: Burst | None, what: str) -> str | None:
    """Why something that weighs is not taken from a burst: told once, empty after that.

    None where it may be taken.
    """
    if burst is None or not burst.is_paste:
        return None
    if burst.told:
        return ""
    burst.told = True
    return (
        f"That looked like a paste: {burst.keys} keys at once. \u201c{what}\u201d was not taken "
        "from it; press its key by itself."
    )

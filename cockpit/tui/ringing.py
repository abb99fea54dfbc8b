"""Telling the pilot, in the terminal itself, what is worth looking up for: a bell, or a message
that the terminal shows on the desktop (OSC 9 or OSC 777).

What comes together is one message, and none is sent in quiet hours. A tmux in between gets the
sequence wrapped, for the terminal behind it; and a bell beside it, because it may be one that
lets nothing through. What happened before the screen looked is never told.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic

from textual.message_pump import MessagePump

from cockpit.config.hooks import InTerminal, Notifications
from cockpit.core.notices import TOGETHER, digest, minutes_of_quiet, quiet_hours, topic
from cockpit.core.safetext import safe_line
from cockpit.wire.stream import Event

SOON = 0.5
"""Seconds that the first of several waits for the others."""
LONGEST = 240
"""Characters of a message: what a desktop shows, and no terminal refuses."""
BELL = "\a"


class Ringing:
    """Gathers what happens and sends it, at most once in ten seconds."""

    def __init__(
        self,
        settings: Notifications,
        *,
        behind_tmux: bool,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """`now` is the local clock, for quiet hours."""
        self._settings = settings
        self._behind_tmux = behind_tmux
        self._now = now
        self._gathered: list[str] = []
        self._last = float("-inf")

    def ring_by(self, settings: Notifications) -> None:
        """These settings count from now on."""
        self._settings = settings

    def heard(self, event: Event, pump: MessagePump, send: Callable[[str], None]) -> None:
        """Something has happened just now; `send` writes to the terminal, when it is time."""
        settings = self._settings
        if settings.terminal == "off" or topic(event.kind, event.data) not in settings.on:
            return
        self._gathered.append(event.text)
        if len(self._gathered) == 1:
            wait = max(SOON, self._last + TOGETHER - monotonic())
            pump.set_timer(wait, lambda: self._tell(send))

    def _tell(self, send: Callable[[str], None]) -> None:
        texts, self._gathered = self._gathered, []
        self._last = monotonic()
        now = self._now()
        if not minutes_of_quiet(quiet_hours(self._settings.quiet), now.hour * 60 + now.minute):
            send(sequence(self._settings.terminal, *digest(texts), behind_tmux=self._behind_tmux))


def sequence(how: InTerminal, title: str, body: str, *, behind_tmux: bool) -> str:
    """What to write. `title` and `body` may be anybody's words: nothing of theirs is a control."""
    title = safe_line(title, LONGEST).replace(";", ",")
    body = safe_line(body, LONGEST)
    match how:
        case "off":
            return ""
        case "bell":
            return BELL
        case "osc9":
            plain = f"\x1b]9;{title}: {body}\x1b\\"
        case "osc777":
            plain = f"\x1b]777;notify;{title};{body}\x1b\\"
    if not behind_tmux:
        return plain
    # The pilot's terminal may be a tmux once more. Where it is, it knows only the second of these,
    # and where it is not, only the first.
    return wrapped(plain) + wrapped(wrapped(plain)) + BELL


def wrapped(plain: str) -> str:
    """For a tmux, which sends it on to its terminal as it is, if it is allowed to."""
    return "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"

"""Notify the user through the terminal: a bell, or a desktop message (OSC 9 or OSC 777).

Events close together become one message. No message is sent in quiet hours.
Inside tmux the sequence is wrapped for the outer terminal, and a bell is added, because tmux may
block the sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic

from textual.message_pump import MessagePump

from cockpit.config.hooks import InTerminal, Notifications
from cockpit.core.notices import TOGETHER, digest, minutes_of_quiet, quiet_hours
from cockpit.core.safetext import safe_line
from cockpit.wire.stream import Event

SOON = 0.5
"""Minimum seconds from the first event to the message, which then includes all events so far."""
LONGEST = 240
"""Maximum characters of a message's title, and of its body."""
BELL = "\a"


class Bell:
    """Collects events and sends them as one message, at most once in ten seconds."""

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

    def use_settings(self, settings: Notifications) -> None:
        self._settings = settings

    def heard(self, event: Event, pump: MessagePump, send: Callable[[str], None]) -> None:
        """Collect a new event if its topic is wanted.

        Later, `send` gets the terminal sequence of all collected events; not in quiet hours.
        """
        settings = self._settings
        if settings.terminal == "off":
            return
        # Imported here, because the first frame does not need these 40 types; `screens.lazy`
        # imports them in the background.
        from cockpit.core.event_data import from_data
        from cockpit.core.event_topics import topic

        if topic(from_data(event.kind, event.data)) not in settings.on:
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
    """Return the terminal sequence of a message; for `bell` only a bell, for `off` nothing.

    Control characters are removed from the texts, and each text is cut after `LONGEST` characters.
    """
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
    # The outer terminal may be another tmux, which reads only the second sequence; any other
    # terminal reads only the first.
    return wrapped(plain) + wrapped(wrapped(plain)) + BELL


def wrapped(plain: str) -> str:
    """Wrap a sequence so that tmux with `allow-passthrough` passes it to the outer terminal."""
    return "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"

"""Textual's driver for Unix terminals: sends only cells that differ, tells how keys came."""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from time import monotonic

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from cockpit.tui.bursts import Bursts
from cockpit.tui.shadow import Shadow

READ = 4096
"""Bytes that are read at once, as much as a terminal holds of a line."""
LOOK = 0.1
"""Seconds after which an Esc that nothing followed is the key, and whether it is over is seen."""
_TITLE = "\x1b]2;{}\x07"
_KEEP_TITLE, _GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"


class RedrawWanted(Message):
    """The terminal may not show what it should: everything is to be sent again."""


class FrugalDriver(LinuxDriver):
    """Every write goes through a shadow of the screen, which is forgotten whenever somebody
    else may have drawn: another size, a terminal that was given away, a pilot who says so."""

    _shadow: Shadow | None = None
    _title = ""
    _aside = False
    """The terminal was given away for a while."""

    def write(self, data: str) -> None:
        if self._shadow is None:
            self._shadow = Shadow()
        reduced = self._shadow.reduced(data)
        if reduced:
            super().write(reduced)

    def run_input_thread(self) -> None:
        """Read keys until the end. Textual's own hands them on before it has seen the whole read,
        and so nobody could know what came together."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        bursts = Bursts()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                given = os.read(self.fileno, READ) if selector.select(LOOK) else None
                if given == b"":  # nobody types there any more
                    self.exit_event.wait(LOOK)
                events = [*parser.feed(decode(given)), *parser.tick()] if given else parser.tick()
                events = list(events)
                bursts.mark(events, monotonic())
                for event in events:
                    self.process_message(event)

    def entitle(self, title: str) -> None:
        """Have the terminal's own title say this. Our own words only: no text of others."""
        if title != self._title:
            self._title = title
            super().write(_TITLE.format(title))

    def ring(self, sequence: str) -> None:
        """Have the terminal call the pilot. Not while somebody else has it: they would read it."""
        if not self._aside:
            super().write(sequence)

    def forget(self) -> None:
        """Send everything at the next drawing."""
        if self._shadow:
            self._shadow.forget()

    def start_application_mode(self) -> None:
        self.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if not self._aside:
            super().write(_KEEP_TITLE)
        if self._title:
            super().write(_TITLE.format(self._title))

    def stop_application_mode(self) -> None:
        if not self._aside:
            super().write(_GIVE_TITLE_BACK)
        super().stop_application_mode()

    def suspend_application_mode(self) -> None:
        # Whoever has the terminal meanwhile may leave another title: ours to keep is the first.
        self._aside = True
        super().suspend_application_mode()

    def resume_application_mode(self) -> None:
        super().resume_application_mode()
        self._aside = False

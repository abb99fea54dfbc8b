"""Textual's driver for Unix terminals, sending only the cells that differ."""

from __future__ import annotations

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from cockpit.tui.shadow import Shadow


class RedrawWanted(Message):
    """The terminal may not show what it should: everything is to be sent again."""


class FrugalDriver(LinuxDriver):
    """Every write goes through a shadow of the screen, which is forgotten whenever somebody
    else may have drawn: another size, a terminal that was given away, a pilot who says so."""

    _shadow: Shadow | None = None

    def write(self, data: str) -> None:
        if self._shadow is None:
            self._shadow = Shadow()
        reduced = self._shadow.reduced(data)
        if reduced:
            super().write(reduced)

    def forget(self) -> None:
        """Send everything at the next drawing."""
        if self._shadow:
            self._shadow.forget()

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.Resize):
            self.forget()
        super().process_message(message)

    def start_application_mode(self) -> None:
        self.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]

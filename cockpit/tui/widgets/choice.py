"""A field to select one of several options with the keys left and right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.field import run_in_order
from cockpit.tui.widgets.line import OneLine


class Option(NamedTuple):
    value: str
    word: str
    meaning: str = ""
    """An explanation of the option; left out if there is no room."""


class Choice(OneLine, can_focus=True):
    """Shows the selected option between two arrows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space,plus", "turn(1)", "next", show=False),
        Binding("left,h,minus", "turn(-1)", "previous", show=False),
        Binding("enter", "screen.submit", "submit", show=False),
    ]

    class Changed(Message):
        """The user selected another option."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

        @property
        def control(self) -> Choice:
            return self.choice

    def __init__(self, options: Sequence[Option], value: str, *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(self._spans, id=id)
        self._options = list(options)
        self._at = 0
        self.value = value

    @property
    def value(self) -> str:
        return self._options[self._at].value

    @value.setter
    def value(self, value: str) -> None:
        """Select an option without posting `Changed`; an unknown value selects the first option."""
        values = [option.value for option in self._options]
        self._at = values.index(value) if value in values else 0
        self.show()

    def offer(self, options: Sequence[Option]) -> None:
        """Replace the options. Keeps the value; if no option has it, selects the first option."""
        value = self.value
        self._options = list(options)
        self.value = value

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.show()

    def on_click(self, event: events.Click) -> None:
        self.action_turn(-1 if event.x == 0 else 1)

    async def _on_key(self, event: events.Key) -> None:
        await run_in_order(self, event)

    def action_turn(self, step: int) -> None:
        self._at = (self._at + step) % len(self._options)
        self.show()
        self.post_message(self.Changed(self))

    def _spans(self, width: int) -> list[Span]:
        option = self._options[self._at]
        role = "key" if self.has_focus else "muted"
        word = fit(option.word, min(len(option.word), max(1, width - 4)))
        room = max(0, width - len(word) - 6)
        meaning = f"  {fit(option.meaning, room)}" if len(option.meaning) <= room else ""
        return [Span("‹ ", role), Span(word), Span(" ›", role), Span(meaning, "muted")]


class LongChoice(Choice, inherit_bindings=False):
    """A choice with many options. Enter and Space run the screen's action `list_options`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,plus", "turn(1)", "next", show=False),
        Binding("left,h,minus", "turn(-1)", "previous", show=False),
        Binding("enter,space", "screen.list_options", "list", show=False),
    ]

    def _spans(self, width: int) -> list[Span]:
        hint = f"  Enter lists all {len(self._options)}" if self.has_focus else ""
        spans = super()._spans(width)[:3]
        free = width - sum(len(span.text) for span in spans)
        return [*spans, Span(hint, "muted")] if len(hint) <= free else spans

"""The list of themes; the selected theme is applied to the whole screen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.picker import Picker


class ThemesScreen(ModalScreen[str | None]):
    """The list of themes. Returns the chosen theme; None if the user leaves.

    Leaving applies the previous theme again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("home,g", "move(-1000)", show=False),
        Binding("end,G", "move(1000)", show=False),
        Binding("enter,space", "choose", show=False),
        Binding("escape,ctrl+g,q", "leave", show=False),
    ]

    def __init__(self, names: Sequence[str], own: Collection[str], now: str) -> None:
        """`own` are cockpit's and the user's own themes; they are listed first."""
        super().__init__()
        self._own = own
        self._before = now
        self._names = sorted(names, key=lambda name: (name not in own, name))
        self.list = Picker(self._say, empty="No theme.", id="themes")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -themes"):
            yield Static("Theme", classes="dialog--title", markup=False)
            yield self.list
            yield DialogKeys("↑↓ try  Enter choose  Esc back")

    def on_mount(self) -> None:
        self.list.show(self._names)
        self.list.select(self._before)
        self.set_focus(self.list)

    def _say(self, name: str, width: int) -> list[Span]:
        role = "name" if name in self._own else ""
        return [Span(fit(safe_line(name, 40), width), role)]

    @on(Picker.Moved)
    def _moved(self) -> None:
        if self.list.selected:
            self.app.theme = self.list.selected

    @on(Picker.Picked)
    def _picked(self) -> None:
        self.action_choose()

    def action_move(self, steps: int) -> None:
        self.list.move(steps)

    def action_choose(self) -> None:
        self.dismiss(self.list.selected)

    def action_leave(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)

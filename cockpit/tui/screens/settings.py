"""Settings: where the bands begin, shown on the agents that fly now; the theme, shown at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.client.client import Client
from cockpit.core.bands import MARK_NAMES
from cockpit.tui.model import Model
from cockpit.tui.present.preview import example_lines, lowered_words, preview_line
from cockpit.tui.screens.changing import ChangeForm
from cockpit.tui.screens.form import row
from cockpit.tui.widgets.choice import Choice, Option
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from cockpit.config.files import Files
    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import ContextSettings

LOW = 20
"""Rows below which a form takes the whole screen."""
BESIDES = 18
"""Rows of the form that are not the preview, with its border."""
MEANINGS = {
    "notice": "the bar changes colour",
    "warn": "the row says so",
    "act": "the handoff",
    "force": "waits no longer",
}


class SettingsScreen(ChangeForm):
    """An empty field leaves its mark as it is; what it is stands in it, greyed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+k", "keys", "keys", show=False, priority=True),
    ]

    EXPLAINED = (
        ("marks", 'A share ("70%"), tokens ("130k"), or what is left ("30% left").'),
        ("theme", "Seen at once; kept with Ctrl-S."),
        ("Ctrl-K", "The keys of every action."),
    )

    def __init__(
        self,
        model: Model,
        client: Client,
        read_files: Callable[[], Files],
        home: str,
        open_keys: Callable[[], None],
    ) -> None:
        super().__init__(client, read_files, home)
        self._model = model
        self._open_keys = open_keys
        self._theme_before = ""
        self._loaded: Loaded | None = None
        self.marks = {name: Field(id=f"mark-{name}") for name in MARK_NAMES}
        self.theme = Choice([Option("", "")], "", id="theme")
        self.preview = Lines(id="preview")
        self.preview.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -form -settings"):
            yield Static("Settings", classes="dialog--title", markup=False)
            for name, field in self.marks.items():
                with Horizontal(classes="form--row"):
                    yield Static(name, classes="dialog--label", markup=False)
                    yield field
                    yield Static(MEANINGS[name], classes="form--meaning", markup=False)
            yield row("theme", self.theme)
            yield self.preview
            yield self.verdict
            yield Static("Tab next  Ctrl-S write  Ctrl-G back  Ctrl-K keys", classes="dialog--keys")

    def on_mount(self) -> None:
        self._theme_before = self.app.theme
        names = sorted(self.app.available_themes)
        self.theme.offer([Option(name, name) for name in names])
        self.theme.value = self._theme_before
        super().on_mount()

    def first_field(self) -> Widget:
        return self.marks["notice"]

    def fields(self) -> list[Widget]:
        return [*self.marks.values(), self.theme]

    def changes(self) -> dict[tuple[str, ...], Any]:
        found: dict[tuple[str, ...], Any] = {
            ("defaults", "context", name): field.value.strip()
            for name, field in self.marks.items()
            if field.value.strip()
        }
        if self.theme.value != self._theme_before:
            found["cockpit", "theme"] = self.theme.value
        return found

    def aside(self, loaded: Loaded) -> str:
        return lowered_words(loaded.settings.defaults.context, self._typed_marks())

    def _typed_marks(self) -> set[str]:
        return {name for name, field in self.marks.items() if field.value.strip()}

    def show(self, loaded: Loaded) -> None:
        if self._files is not None:
            holds = self._files.loaded.settings.defaults.context
            for name, field in self.marks.items():
                field.placeholder = str(getattr(holds, name))
        self._loaded = loaded
        self._draw()

    def written(self, loaded: Loaded) -> None:
        self._theme_before = self.theme.value

    @on(Input.Changed)
    def _typed(self) -> None:
        self.judge()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    @on(Choice.Changed)
    def _chosen(self) -> None:
        self.app.theme = self.theme.value
        self.judge()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def action_leave(self) -> None:
        self.app.theme = self._theme_before
        super().action_leave()

    def action_keys(self) -> None:
        if self.changes():
            self.say("Write these first (Ctrl-S), or leave them (Ctrl-G).", wrong=True)
        else:
            self.dismiss(False)
            self._open_keys()

    def _draw(self) -> None:
        width = self.preview.size.width
        if self._loaded is None or not width:
            return
        lines = [
            preview_line(agent, self._context_of(agent.name), width)
            for agent in self._model.agents.values()
        ]
        shown = lines or example_lines(self._loaded.settings.defaults.context, width)
        self.preview.set_lines(shown)
        self._fit(len(shown))

    def _fit(self, lines: int) -> None:
        """As high as the preview needs; on a low screen the whole of it."""
        low = self.app.size.height < LOW
        self.query_one(".dialog").styles.max_height = "100%" if low else BESIDES + max(3, lines)

    def _context_of(self, name: str) -> ContextSettings | None:
        assert self._loaded is not None
        return next(
            (agent.context for agent in self._loaded.settings.agents if agent.name == name), None
        )

"""The settings form: thresholds, previewed on the running agents, and the look of the screen.

`fields` lists the settings; each can be reset to its default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.client.client import Client
from cockpit.config.thresholds import early_warnings
from cockpit.core.bands import MARK_NAMES
from cockpit.tui.present.preview import example_lines, lowered_words, preview_line
from cockpit.tui.screens.settings.change_form import ChangeForm
from cockpit.tui.screens.settings.fields import CONTEXT, MEANINGS, MODE, THEME, Setting, settings
from cockpit.tui.screens.settings.themes import ThemesScreen
from cockpit.tui.state.model import Model
from cockpit.tui.state.settings_reload import SettingsRead
from cockpit.tui.widgets.choice import Choice, Option
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from cockpit.config.files import Files
    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import ContextSettings

LOW = 20
"""Minimum lines of a terminal that shows the form as a dialog; on a smaller terminal, the form
fills the screen."""
ROWS_WITHOUT_PREVIEW = 21
"""Rows of the form without the preview, including the border."""
ELSEWHERE = {
    ("cockpit", "theme"): "COCKPIT_THEME",
    ("cockpit", "refresh"): "COCKPIT_REFRESH",
}
"""Environment variables that override a setting for one terminal, by the setting's path."""


class SettingsScreen(ChangeForm):
    """The settings form. An empty field keeps the current value, shown as the placeholder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+k", "keys", "keys", show=False, priority=True),
        Binding("ctrl+r", "reset", "default", show=False, priority=True),
        Binding("down", "row(1)", "down", show=False, priority=True),
        Binding("up", "row(-1)", "up", show=False, priority=True),
    ]

    EXPLAINED = (
        ("thresholds", 'A share ("70%"), tokens ("130k"), or the remainder ("30% left").'),
        ("← →", "Lower or raise a threshold; in text that you typed, move the cursor."),
        (
            "cap",
            "A limit in tokens, for windows of 500k and more. The lower of limit and "
            "threshold applies.",
        ),
        ("window", '"auto", or tokens such as "200k" if the CLI reports the wrong size.'),
        ("mode", "Applies to agents that you start from now on; running agents keep their mode."),
        (
            "theme",
            "Enter lists all themes. A theme is previewed at once; refresh, glyphs and colours "
            "apply after Ctrl-S.",
        ),
        ("terminal", "How to notify you: a terminal bell or a desktop message."),
        ("Ctrl-R", "Reset to the default: removes the setting from the file. Press again to undo."),
        ("Ctrl-K", "Change the keys."),
    )

    def __init__(
        self,
        model: Model,
        client: Client,
        read_files: Callable[[], Files],
        home: str,
        open_keys: Callable[[], None],
        begin_at: tuple[str, ...] | None = None,
    ) -> None:
        """`begin_at`: the setting whose field gets the focus; None for the first setting.

        `open_keys` opens the form for keys, after this form has closed.
        """
        super().__init__(client, read_files, home)
        self._begin_at = begin_at or (*CONTEXT, MARK_NAMES[0])
        self._model = model
        self._open_keys = open_keys
        self._theme_before = ""
        self._loaded: Loaded | None = None
        self._note = ""
        """Why a setting was not reset; empty if no reset was refused."""
        self._reset_requested: Setting | None = None
        """The setting to reset once the files are read."""
        self.settings = settings()
        self.preview = Lines(id="preview")
        self.preview.can_focus = False

    @property
    def theme(self) -> Setting:
        return self.settings[THEME]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -form -settings"):
            yield Static("Settings", classes="dialog--title", markup=False)
            with VerticalScroll(classes="form", can_focus=False):
                for name in MARK_NAMES:
                    yield self._mark_row(name)
                yield self._row((*CONTEXT, "window"), MODE)
                yield self._row(THEME)
                yield self._row(("cockpit", "refresh"), ("cockpit", "glyphs"))
                yield self._row(("cockpit", "colours"), ("notifications", "terminal"))
            yield self.preview
            yield self.status_line
            yield DialogKeys(
                "↑↓ move  ←→ change  Ctrl-S save  Ctrl-R default  Esc back  F1 help  Ctrl-K keys"
            )

    def _mark_row(self, name: str) -> Horizontal:
        return Horizontal(
            _label(name),
            self.settings[(*CONTEXT, name)].field,
            _label("cap", "-cap"),
            self.settings[(*CONTEXT, "cap", name)].field,
            Static(MEANINGS[name], classes="form--meaning", markup=False),
            classes="form--row",
        )

    def _row(self, *paths: tuple[str, ...]) -> Horizontal:
        widgets: list[Widget] = []
        for setting in (self.settings[path] for path in paths):
            widgets += [_label(setting.word, "-second" if widgets else ""), setting.field]
        return Horizontal(*widgets, classes="form--row")

    def on_mount(self) -> None:
        self._theme_before = self.app.theme
        names = sorted(self.app.available_themes)
        assert isinstance(self.theme.field, Choice)
        self.theme.field.offer([Option(name, name) for name in names])
        self.theme.field.value = self._theme_before
        super().on_mount()
        # On a low screen the field can be below the last line.
        self.call_after_refresh(self.first_field().scroll_visible, animate=False)

    def first_field(self) -> Widget:
        return self.settings[self._begin_at].field

    def fields(self) -> list[Widget]:
        return [setting.field for setting in self.settings.values()]

    def changes(self) -> dict[tuple[str, ...], Any]:
        return {path: s.change for path, s in self.settings.items() if s.is_changed}

    def aside(self, loaded: Loaded) -> str:
        typed = {path[-1] for path in self.changes() if path[:2] == CONTEXT and len(path) == 3}
        context = loaded.settings.defaults.context
        agents = [(agent, _context_of(loaded, agent.name)) for agent in self._model.agents.values()]
        notes = [
            self._note,
            lowered_words(context, typed, agents),
            *early_warnings(context, typed),
        ]
        if MODE in self.changes() and any(agent.pid for agent in self._model.agents.values()):
            notes.append("mode applies to agents started from now on.")
        notes += [
            f"{name} overrides {path[-1]} in this terminal."
            for path, name in ELSEWHERE.items()
            if path in self.changes() and self._says_environment(path)
        ]
        return " ".join(filter(None, notes))

    def _says_environment(self, path: tuple[str, ...]) -> bool:
        source = self._files and self._files.loaded.sources.get(".".join(path))
        return bool(source and source.where == "environment")

    def show(self, loaded: Loaded) -> None:
        if self._files is not None:
            for setting in self.settings.values():
                setting.show_value(self._files.loaded)
                setting.show_default(loaded)
            if (requested := self._reset_requested) is not None:
                self._reset_requested = None
                self._toggle_reset(requested, self._files)
        if self.theme.is_reset:
            self.app.theme = self.theme.field.value
        self._loaded = loaded
        self._draw()

    def written(self, loaded: Loaded) -> None:
        self._theme_before = self.theme.field.value
        self.app.post_message(SettingsRead(loaded))

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        self._touched(message.input)

    def action_row(self, step: int) -> None:
        """Move to the nearest field of the next row (`step` is 1) or of the previous row (-1)."""
        here = self.focused
        if here is None:
            self.action_go(step)
            return
        rows = sorted({field.region.y for field in self.fields()})
        target = rows[(rows.index(here.region.y) + step) % len(rows)]
        there = [field for field in self.fields() if field.region.y == target]
        self.set_focus(min(there, key=lambda field: abs(field.region.x - here.region.x)))

    def action_list_options(self) -> None:
        """Open the list of themes, in which the user can choose one."""
        field = self.theme.field
        assert isinstance(field, Choice)

        def chosen(name: str | None) -> None:
            if name is not None and name != field.value:
                field.value = name
                self._touched(field)

        names = sorted(self.app.available_themes)
        own = [name for name in names if name not in BUILTIN_THEMES]
        self.app.push_screen(ThemesScreen(names, own, field.value), chosen)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    @on(Choice.Changed)
    def _chosen(self, message: Choice.Changed) -> None:
        if message.choice is self.theme.field:
            self.app.theme = self.theme.field.value
        self._touched(message.choice)

    def _touched(self, field: Widget) -> None:
        """Cancel the reset of a field that the user edits, and validate the form."""
        self._note = ""
        for setting in self.settings.values():
            if setting.field is field:
                setting.is_reset = False
        self.judge()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def action_leave(self) -> None:
        self.app.theme = self._theme_before
        super().action_leave()

    def action_keys(self) -> None:
        if self.changes():
            self.show_status(
                "Save these changes first (Ctrl-S), or discard them (Esc).", wrong=True
            )
        else:
            self.dismiss(False)
            self._open_keys()

    def action_reset(self) -> None:
        """Reset the focused setting to its default, or cancel the reset."""
        self.after_what_was_typed(self._reset)

    def _reset(self) -> None:
        setting = next((s for s in self.settings.values() if s.field is self.focused), None)
        self._note = ""
        if self._files is None:
            self._reset_requested = setting
        elif setting is not None:
            self._toggle_reset(setting, self._files)

    def _toggle_reset(self, setting: Setting, files: Files) -> None:
        if setting.is_reset:
            setting.undo_reset(files.loaded)
            self.app.theme = self.theme.field.value
        elif (why := files.why_not_out(setting.path)) is not None and not setting.is_changed:
            self._note = why
        else:
            self._request_reset(setting, files)
        self.judge()

    def _request_reset(self, setting: Setting, files: Files) -> None:
        """Discard unsaved text, then reset the setting if a file contains it."""
        setting.is_reset = files.why_not_out(setting.path) is None
        if isinstance(setting.field, Field):
            with setting.field.prevent(Input.Changed):
                setting.field.value = ""
        elif not setting.is_reset:
            setting.undo_reset(files.loaded)
            self.app.theme = self.theme.field.value

    def _draw(self) -> None:
        width = self.preview.size.width
        if self._loaded is None or not width:
            return
        lines = [
            preview_line(agent, _context_of(self._loaded, agent.name), width)
            for agent in self._model.agents.values()
        ]
        shown = lines or example_lines(self._loaded.settings.defaults.context, width)
        self.preview.set_lines(shown)
        self._fit(len(shown))

    def _fit(self, lines: int) -> None:
        """Fit the form's height to the preview; on a low screen, use all lines."""
        low = self.app.size.height < LOW
        self.query_one(".dialog").styles.max_height = (
            "100%" if low else ROWS_WITHOUT_PREVIEW + max(3, lines)
        )


def _context_of(loaded: Loaded, name: str) -> ContextSettings | None:
    """Return the thresholds of an agent in `loaded`; None if `loaded` does not have the agent."""
    return next((agent.context for agent in loaded.settings.agents if agent.name == name), None)


def _label(word: str, kind: str = "") -> Static:
    return Static(word, classes=f"dialog--label {kind}".rstrip(), markup=False)

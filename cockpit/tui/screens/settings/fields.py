"""The settings that the screen can change, each with its field.

An empty threshold or an unchanged choice changes nothing, unless the user resets the setting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cockpit.core.bands import MARK_NAMES
from cockpit.tui.present.edits import value_at
from cockpit.tui.widgets.choice import Choice, LongChoice, Option
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.threshold_field import ThresholdField

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded

CONTEXT = ("defaults", "context")
THEME = ("cockpit", "theme")
MODE = ("defaults", "mode")

MEANINGS = {
    "notice": "colours the bar",
    "warn": "shows a warning",
    "act": "hands off",
    "force": "hands off at once",
}

MODES = (
    Option("prompt", "prompt", "ask me before a handoff"),
    Option("auto", "auto", "hand off automatically"),
    Option("observe", "observe", "only watch"),
)
CHOICES: dict[tuple[str, ...], tuple[Option, ...]] = {
    ("cockpit", "refresh"): (
        Option("auto", "auto", "low over SSH"),
        Option("low", "low", "draws less"),
        Option("full", "full", "also over SSH"),
    ),
    ("cockpit", "glyphs"): (
        Option("auto", "auto", "from LANG"),
        Option("unicode", "unicode"),
        Option("ascii", "ascii"),
    ),
    ("cockpit", "colours"): (
        Option("auto", "auto", "from TERM"),
        Option("all", "all"),
        Option("16", "16"),
        Option("none", "none"),
    ),
    ("notifications", "terminal"): (
        Option("bell", "bell"),
        Option("osc9", "osc9", "desktop message"),
        Option("osc777", "osc777", "desktop message"),
        Option("off", "off"),
    ),
}
"""The options of each choice. A setting's label is the last part of the setting's path."""
PATHS: tuple[tuple[str, ...], ...] = (
    *(path for name in MARK_NAMES for path in ((*CONTEXT, name), (*CONTEXT, "cap", name))),
    (*CONTEXT, "window"),
    MODE,
    THEME,
    *CHOICES,
)
"""All settings, in form order."""


class Setting:
    """One setting, with the form's field for it."""

    def __init__(self, path: tuple[str, ...], field: Field | Choice) -> None:
        self.path = path
        self.field = field
        self.word = path[-1]
        self.is_reset = False
        """Whether saving resets the setting, by removing the setting from its file."""
        self._held = field.value

    @property
    def is_changed(self) -> bool:
        if self.is_reset:
            return True
        value = self.field.value.strip()
        return value != self._held if isinstance(self.field, Choice) else bool(value)

    @property
    def change(self) -> Any:
        """The value to save; None removes the setting."""
        return None if self.is_reset else self.field.value.strip()

    def show_value(self, loaded: Loaded) -> None:
        """Show the value in `loaded`; a choice that the user changed stays."""
        value = value_at(loaded, self.path)
        if isinstance(self.field, Choice):
            if not self.is_changed:
                self.field.value = value
                value = self.field.value
            self._held = value
        else:
            self.field.placeholder = value

    def show_default(self, loaded: Loaded) -> None:
        """If a reset is requested, show the resulting value, which is the value in `loaded`."""
        if not self.is_reset:
            return
        value = value_at(loaded, self.path)
        if isinstance(self.field, Choice):
            self.field.value = value
        else:
            self.field.placeholder = f"→ {value}"

    def undo_reset(self, loaded: Loaded) -> None:
        """Cancel the requested reset, and show the value before the reset."""
        self.is_reset = False
        value = value_at(loaded, self.path)
        if isinstance(self.field, Choice):
            self.field.value = self._held
        else:
            self.field.placeholder = value


def settings() -> dict[tuple[str, ...], Setting]:
    """Return all settings with new fields, in form order."""
    return {path: Setting(path, _field(path)) for path in PATHS}


def _field(path: tuple[str, ...]) -> Field | Choice:
    name = path[-1]
    if path == MODE:
        return Choice(MODES, MODES[0].value, id="mode")
    if path == THEME:
        return LongChoice([Option("", "")], "", id="theme")
    if (options := CHOICES.get(path)) is not None:
        return Choice(options, options[0].value, id=name)
    if name not in MARK_NAMES:
        return ThresholdField(id=name)
    return ThresholdField(id=f"{'cap' if 'cap' in path else 'mark'}-{name}")


def title(path: tuple[str, ...]) -> str:
    """Return the name of the palette's entry that opens the form at this setting."""
    kind = "setting"
    if path[:-1] == CONTEXT and path[-1] in MARK_NAMES:
        kind = "threshold"
    elif path[:-1] == (*CONTEXT, "cap"):
        kind = "threshold cap"
    return f"Change {kind}: {path[-1]}…"


def sentence(path: tuple[str, ...]) -> str:
    """Return the setting's description in the schema."""
    from cockpit.config.schema import Settings

    section: Any = Settings
    for part in path[:-1]:
        section = section.model_fields[part].annotation
    return str(section.model_fields[path[-1]].description)

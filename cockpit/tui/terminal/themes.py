"""Load theme files: a palette, and cockpit's own variables for the screens.

A theme has the name of its file. A theme in a later folder replaces a theme with the same name. An
invalid or unreadable file is skipped and reported.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.terminal.contrast import legible

DEFAULT = "night"

_PALETTE = (
    "primary", "secondary", "accent", "foreground", "background", "surface", "panel", "success",
    "warning", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Themes:
    """The loaded themes, and the files that could not be loaded."""

    themes: Mapping[str, Theme]
    troubles: Mapping[str, str]
    """Why each skipped file could not be loaded, by theme name."""


def load(folders: Iterable[Path]) -> Themes:
    """Load every `*.toml` of the folders; missing folders are ignored."""
    loaded: dict[str, Theme] = {}
    troubles: dict[str, str] = {}
    for folder in folders:
        for file in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                loaded[file.stem] = _read(file)
            except (OSError, ValueError) as error:
                troubles[file.stem] = f"{file.name}: {error}"
    return Themes(loaded, troubles)


def chosen(name: str, themes: Themes) -> tuple[str, str | None]:
    """Return the theme to use, and a message if the theme `name` is unknown or its file invalid.

    The message is None otherwise.
    """
    broken = themes.troubles.get(name)
    if name in themes.themes or name in BUILTIN_THEMES:
        return (
            name,
            f"{broken}. Using the built-in {name}." if broken else None,
        )
    known = ", ".join(sorted(themes.themes))
    fallback = DEFAULT if DEFAULT in themes.themes else "textual-dark"
    if broken:
        return fallback, f"{broken}. Using {fallback}. Available: {known}."
    return fallback, f"Unknown theme {name!r}; using {fallback}. Available: {known}."


def with_few_colours(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with one colour, that of quiet text, for all unfilled parts of a bar.

    Each change of colour would take more bytes than the part itself.
    """
    quiet = variables["text-quiet"]
    return {**variables, "bar-track": quiet, "bar-mark": quiet, "bar-tick": quiet}


def defaults(colours: Mapping[str, str]) -> dict[str, str]:
    """Derive cockpit's theme variables from a theme's own colours.

    Used for variables that a theme does not set, so that every Textual theme is usable.
    """
    quiet = _readable(_mixed(colours, "background", "foreground", 0.55), colours)
    return {
        "bar-calm": colours["success"],
        "bar-notice": _mixed(colours, "success", "warning", 0.5),
        "bar-warn": colours["warning"],
        "bar-act": _mixed(colours, "warning", "error", 0.5),
        "bar-force": colours["error"],
        "bar-unknown": quiet,
        "bar-track": _mixed(colours, "background", "foreground", 0.14),
        "bar-mark": quiet,
        "bar-tick": _mixed(colours, "background", "warning", 0.55),
        "text-quiet": quiet,
        "line": _mixed(colours, "background", "foreground", 0.2),
        "frame-here": _mixed(colours, "background", "accent", 0.6),
        "row-selected": _mixed(colours, "background", "accent", 0.2),
        "row-needs": _tinted(colours, "warning", 0.06),
        "diff-added": _tinted(colours, "success", 0.1),
        "diff-removed": _tinted(colours, "error", 0.1),
        "pane-background": colours["background"],
    }


def _readable(value: str, colours: Mapping[str, str]) -> str:
    try:
        grounds = [Color.parse(colours[name]) for name in ("background", "surface")]
        return legible(Color.parse(value), grounds).hex6
    except (ColorParseError, KeyError):
        return value


def _tinted(colours: Mapping[str, str], by: str, share: float) -> str:
    """Return the background mixed with a little of a colour.

    Returns the background itself if the terminal defines its colour.
    """
    if Color.parse(colours["background"]).ansi is not None:
        return colours["background"]
    return _mixed(colours, "background", by, share)


def _mixed(colours: Mapping[str, str], one: str, other: str, share: float) -> str:
    try:
        mixed = Color.parse(colours[one]).blend(Color.parse(colours[other]), share)
    except (ColorParseError, KeyError):
        return colours.get(other, "white")
    return mixed.hex6


def _read(file: Path) -> Theme:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    known = {*_PALETTE, "dark", "variables"}
    if unknown := sorted(set(data) - known):
        raise ValueError(f"unknown key {unknown[0]!r}")
    if "primary" not in data:
        raise ValueError("has no 'primary' colour")
    dark = data.get("dark", True)
    if not isinstance(dark, bool):
        raise ValueError("'dark' must be true or false")
    palette: dict[str, Any] = {key: _colour(key, data[key]) for key in _PALETTE if key in data}
    own = data.get("variables", {})
    if not isinstance(own, dict):
        raise ValueError("'variables' must be a table")
    variables = {key: _colour(key, value) for key, value in own.items()}
    return Theme(name=file.stem, dark=dark, variables=variables, **palette)


def _colour(key: str, value: Any) -> str:
    try:
        Color.parse(value)
    except (ColorParseError, TypeError, AttributeError):
        raise ValueError(f"{key} = {value!r} is not a colour") from None
    return str(value)

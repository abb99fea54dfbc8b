"""Map the roles of spans to styles of the current theme.

The module names no colours, only theme variables: Textual's, and cockpit's own, such as `bar-calm`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color, ColorParseError

from cockpit.tui.terminal.contrast import legible

BANDS = ("calm", "notice", "warn", "act", "force", "unknown")

GROUNDS = ("background", "surface", "row-selected", "row-needs", "pane-background")
"""Backgrounds on which text must be readable; text colours with too little contrast are
adjusted."""

_PLAIN = "foreground"

_DRAWN = ("bar-", "plot-", "rule", "frame")
"""Prefixes of roles that draw lines and areas; their colours are not adjusted."""

ROLES: dict[str, tuple[str, str, str]] = {
    # role: foreground variable, background variable, attributes
    "": (_PLAIN, "", ""),
    "name": (_PLAIN, "", "bold"),
    "name-here": ("accent", "", "bold"),
    "name-filled": ("accent", "", "reverse"),
    "name-matched": ("accent", "", "bold underline"),
    "activity": (_PLAIN, "", ""),
    "tokens": (_PLAIN, "", ""),
    "trend": ("text-quiet", "", ""),
    "turns": (_PLAIN, "", ""),
    "muted": ("text-quiet", "", ""),
    "title": ("text-quiet", "", ""),
    "title-here": ("accent", "", "bold"),
    "chain": ("text-quiet", "", ""),
    "age": ("text-quiet", "", ""),
    "cost": ("text-quiet", "", ""),
    "number": ("text-quiet", "", ""),
    "stale": ("bar-unknown", "", "italic"),
    "cursor": ("accent", "", "bold"),
    "brand": ("accent", "", "bold"),
    "key": ("accent", "", "bold"),
    "rule": ("line", "", ""),
    "frame": ("line", "background", ""),
    "frame-here": ("frame-here", "background", ""),
    "warning": ("warning", "", "bold"),
    "error": ("error", "", "bold"),
    "hunk": ("accent", "", ""),
    "diff-file": (_PLAIN, "", "bold"),
    "tab-here": (_PLAIN, "", "bold"),
    "added": ("success", "", ""),
    "removed": ("error", "", ""),
    "syntax-comment": ("text-quiet", "", "italic"),
    "syntax-keyword": ("accent", "", ""),
    "syntax-name": (_PLAIN, "", "bold"),
    "syntax-number": ("warning", "", ""),
    "syntax-string": ("success", "", ""),
    "group-needs": ("bar-act", "", "bold"),
    "group-handing": ("accent", "", "bold"),
    "group-working": ("success", "", "bold"),
    "group-idle": ("text-quiet", "", "bold"),
    "group-unknown": ("text-quiet", "", "bold"),
    "group-done": ("text-quiet", "", "bold"),
    "group-stopped": ("text-quiet", "", "bold"),
    "state-needs": ("bar-act", "", "bold"),
    "state-handing": ("accent", "", ""),
    "state-working": ("success", "", ""),
    "state-idle": ("text-quiet", "", ""),
    "state-done": ("success", "", ""),
    "state-failed": ("error", "", "bold"),
    "state-muted": ("text-quiet", "", ""),
    "bar-track": ("bar-track", "", ""),
    "bar-act-tick": ("bar-tick", "", ""),
    "bar-end": ("bar-mark", "", ""),
    "bar-stale": ("bar-unknown", "", ""),
    **{f"bar-{band}": (f"bar-{band}", "", "") for band in BANDS},
    **{f"plot-{band}": (f"bar-{band}", "", "") for band in BANDS},
    "band-calm": (_PLAIN, "", ""),
    "band-notice": ("bar-notice", "", ""),
    "band-warn": ("bar-warn", "", ""),
    "band-act": ("bar-act", "", "bold"),
    "band-force": ("bar-force", "", "bold"),
    "band-unknown": ("bar-unknown", "", ""),
}


class Palette:
    """The style of every role, for one set of theme variables."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._styles: dict[str, Style] = {}

    def style(self, role: str) -> Style:
        """Return the style of a role; the style of plain text if the role is unknown."""
        style = self._styles.get(role)
        if style is None:
            foreground, background, attributes = ROLES.get(role, ROLES[""])
            read = foreground if background or role.startswith(_DRAWN) else f"{foreground} as text"
            style = Style(
                color=self.colour(read),
                bgcolor=self.colour(background) if background else None,
                bold="bold" in attributes or None,
                italic="italic" in attributes or None,
                underline="underline" in attributes or None,
                reverse="reverse" in attributes or None,
            )
            self._styles[role] = style
        return style

    def colour(self, variable: str) -> RichColor | None:
        """Return a variable's colour. If the name ends with ` as text`, the colour is made
        readable.

        Returns None, the terminal's default, for an unknown variable or an invalid colour.
        """
        name, _, as_text = variable.partition(" ")
        grounds = tuple(self._variables.get(ground, "") for ground in GROUNDS) if as_text else ()
        return _parsed(self._variables.get(name, ""), grounds)


@lru_cache(maxsize=512)
def _parsed(value: str, grounds: tuple[str, ...]) -> RichColor | None:
    """Return the colour; None (the terminal's default) if invalid, such as `auto`."""
    try:
        colour = Color.parse(value)
        return legible(colour, map(Color.parse, filter(None, grounds))).rich_color
    except ColorParseError:
        return None

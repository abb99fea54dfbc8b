"""Render screens as SVG without a terminal, from any client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot

from cockpit.client.client import Supervisor
from cockpit.core.errors import Failed
from cockpit.tui.app import CockpitApp
from cockpit.tui.pictures.slim_svg import slim
from cockpit.tui.state.context import UIContext

PATIENCE = 10.0
"""Maximum seconds for each of two waits: for the supervisor, and for the expected texts."""
REST = 3.0
"""Maximum seconds to wait for the screen to stop changing before the next keys or the picture."""
LOOK = 0.05
SAME = 4
"""The screen is stable once this many captures in a row have shown no change."""


@dataclass(frozen=True, slots=True)
class Shot:
    """Description of one picture: the selected agent, the keys to press, and the expected texts."""

    name: str
    shows: tuple[str, ...] = ()
    """Texts that must be on the screen before the picture is taken."""
    keys: tuple[str, ...] = ()
    """Textual's key names. Keys in one string, separated by spaces, are pressed without a pause;
    after each string, `at_rest` waits for a stable screen."""
    selected: str | None = None
    size: tuple[int, int] = (120, 36)
    """The size of the terminal in columns and rows."""
    theme: str = "night"


async def picture(
    client: Supervisor, shot: Shot, ui: UIContext, theme_folders: Sequence[Path] = ()
) -> str:
    """Return the SVG of a screen. Raises `Failed` if a text of `shot.shows` does not appear."""
    app = CockpitApp(client, ui, theme=shot.theme, theme_folders=theme_folders)
    app.model.select(shot.selected)
    async with app.run_test(size=shot.size) as pilot:
        deadline = monotonic() + PATIENCE
        while not app.model.connection.live and monotonic() < deadline:
            await pilot.pause(LOOK)
        await at_rest(pilot)
        for keys in shot.keys:
            await pilot.press(*keys.split())
            await at_rest(pilot)
        deadline = monotonic() + PATIENCE
        while (missing := missing_from(app, shot.shows)) and monotonic() < deadline:
            await pilot.pause(LOOK)
        if missing:
            raise Failed(f"The picture {shot.name} does not show {missing!r}", screen_text(app))
        return slim(app.export_screenshot(title="cockpit"))


async def at_rest(pilot: Pilot[bool]) -> None:
    """Wait until the screen is stable (`SAME`), because a busy machine draws late.

    Returns after `REST` seconds in any case.
    """
    deadline, last, equal = monotonic() + REST, "", 0
    while equal < SAME and monotonic() < deadline:
        await pilot.pause(LOOK)
        now = screen_text(pilot.app)
        equal = equal + 1 if now == last else 0
        last = now


def missing_from(app: CockpitApp, shows: Sequence[str]) -> str | None:
    """Return the first text of `shows` that is not on the screen; None if all are on it."""
    text = screen_text(app)
    return next((phrase for phrase in shows if phrase not in text), None)


def screen_text(app: object) -> str:
    """Return the characters on the screen, one line of text per row."""
    assert isinstance(app, CockpitApp)
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(part.text for part in strip) for strip in strips)

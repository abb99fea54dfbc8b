"""Pictures of the screens as SVG, taken without a terminal, from any client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot

from cockpit.client.client import Supervisor
from cockpit.core.errors import Failed
from cockpit.tui.app import CockpitApp
from cockpit.tui.slim_svg import slim
from cockpit.tui.surroundings import Surroundings

PATIENCE = 10.0
"""Seconds that what a picture is of may take to come."""
REST = 3.0
"""Seconds after which a screen on which something always moves is pictured all the same."""
LOOK = 0.05
SAME = 4
"""So many looks in a row that find the same: a screen is at rest."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: what is selected and pressed, and what then has to stand there."""

    name: str
    shows: tuple[str, ...] = ()
    """Words without which it is a picture of something else."""
    keys: tuple[str, ...] = ()
    """In Textual's names; those of one text are pressed at once, then the screen comes to rest."""
    selected: str | None = None
    size: tuple[int, int] = (120, 36)
    """Columns and rows."""
    theme: str = "night"


async def picture(
    client: Supervisor, shot: Shot, around: Surroundings, theme_folders: Sequence[Path] = ()
) -> str:
    """The SVG of a screen. Raises `Failed` where it does not come to show what it is of."""
    app = CockpitApp(client, around, theme=shot.theme, theme_folders=theme_folders)
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
            raise Failed(f"The picture {shot.name} does not show {missing!r}", told(app))
        return slim(app.export_screenshot(title="cockpit"))


async def at_rest(pilot: Pilot[bool]) -> None:
    """Until several looks in a row find the same; a busy machine draws late."""
    deadline, last, same = monotonic() + REST, "", 0
    while same < SAME and monotonic() < deadline:
        await pilot.pause(LOOK)
        now = told(pilot.app)
        same = same + 1 if now == last else 0
        last = now


def missing_from(app: CockpitApp, shows: Sequence[str]) -> str | None:
    """The first of these words that does not stand on the screen."""
    text = told(app)
    return next((words for words in shows if words not in text), None)


def told(app: object) -> str:
    """What stands on the screen, as text."""
    assert isinstance(app, CockpitApp)
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(part.text for part in strip) for strip in strips)

"""Pictures of the screens as SVG: `python -m cockpit.tui.picture fleet.svg [--screen review]`.

Taken without a terminal, from any client; the command line uses the scene from memory.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from cockpit.client.client import Supervisor
from cockpit.tui.app import CockpitApp
from cockpit.tui.scene import scene
from cockpit.tui.surroundings import Surroundings

SCREENS: dict[str, tuple[str, ...]] = {
    "fleet": (),
    "review": ("d",),
    "agent": ("o", "2"),
    "diff": ("o", "4"),
    "send": ("s",),
    "start": ("n",),
    "stop": ("x",),
    "events": ("e",),
    "help": ("question_mark",),
}
"""Which keys lead to each screen."""

PATIENCE = 10.0

_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
"""A picture fetches nothing: whoever looks at it uses a font of their own."""


async def _nowhere(_name: object) -> None:
    """A picture leads nowhere."""


async def picture(
    client: Supervisor,
    *,
    size: tuple[int, int] = (110, 34),
    keys: Sequence[str] = (),
    theme: str = "night",
    theme_folders: Sequence[Path] = (),
    selected: str | None = None,
) -> str:
    """The SVG of a screen, once the supervisor has answered and what was pressed is there."""
    around = Surroundings(attach=_nowhere, edit=_nowhere)
    app = CockpitApp(client, around, theme=theme, theme_folders=theme_folders)
    app.model.select(selected)
    async with app.run_test(size=size) as pilot:
        deadline = monotonic() + PATIENCE
        while not app.model.connection.live and monotonic() < deadline:
            await pilot.pause(0.02)
        await pilot.pause(0.3)
        for key in keys:
            await pilot.press(key)
        await pilot.pause(0.3)
        return _FONT_FACE.sub("", app.export_screenshot(title="cockpit"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write one picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--screen", choices=SCREENS, default="fleet")
    parser.add_argument("--size", default="110x34", help="columns x rows")
    parser.add_argument("--theme", default="night")
    parser.add_argument("--themes", type=Path, default=Path("themes"))
    chosen = parser.parse_args(arguments)
    columns, _, rows = chosen.size.partition("x")
    svg = asyncio.run(
        picture(
            scene(),
            size=(int(columns), int(rows)),
            keys=SCREENS[chosen.screen],
            theme=chosen.theme,
            theme_folders=[chosen.themes],
            selected="api",
        )
    )
    chosen.file.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The full-screen cockpit: builds the application around a client and runs it in this terminal.

Deliberately knows nothing of sockets or tmux: whoever calls says how an agent's pane is shown.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from cockpit.cli.fast import collect_from_here
from cockpit.core.errors import ProgramMissing

if TYPE_CHECKING:
    from cockpit.client.client import Supervisor
    from cockpit.client.joined import JoinedClient
    from cockpit.config.files import Files
    from cockpit.config.hooks import Notifications
    from cockpit.config.schema import Settings
    from cockpit.tui.app import CockpitApp
    from cockpit.tui.attach import Attach
    from cockpit.tui.drawing import Colours, Glyphs


class Outside(NamedTuple):
    """What other settings change out here; see `tui.renewal.Renewal`."""

    hosts: Callable[[Settings], Mapping[str, Supervisor]]
    watch: Callable[[Callable[[], None]], Callable[[], None]]
    let_through: Callable[[], None]


ENDED_BY_ITSELF = (
    "cockpit: the screen ended without being left; this is a defect. "
    "Your agents go on: press F12, or run cockpit again."
)


def build(
    client: Supervisor | JoinedClient,
    *,
    attach: Attach,
    direct: bool = False,
    host: str = "local",
    theme: str = "night",
    theme_folders: Iterable[Path] = (),
    refresh: Literal["auto", "low"] = "auto",
    keys: Mapping[str, str] | None = None,
    files: Callable[[], Files] | None = None,
    remember_in: Path | None = None,
    glyphs: Glyphs = "auto",
    colours: Colours = "auto",
    notifications: Notifications | None = None,
    settings: Settings | None = None,
    outside: Outside | None = None,
) -> CockpitApp:
    """The application, not yet running.

    `attach` shows an agent's pane, by name. With `direct` the screen owns its terminal and steps
    aside meanwhile; without, `attach` selects a window of the tmux server that we run in.
    `files` reads the configuration from the disk, for what is to be kept in it. `settings` are
    what it said at the start, and `outside` is what changes when it says something else.
    """
    from cockpit.tui.app import CockpitApp
    from cockpit.tui.drawing import filters
    from cockpit.tui.pace import pace
    from cockpit.tui.renewal import Renewal, drawn_as
    from cockpit.tui.ringing import Ringing
    from cockpit.tui.surroundings import Surroundings

    over_ssh = "SSH_CONNECTION" in os.environ

    around = Surroundings(
        attach=attach,
        edit=edit,
        direct=direct,
        pace=pace(refresh, over_ssh=over_ssh),
        keys=dict(keys or {}),
        host=host,
        home=str(Path.home()) if host == "local" else "",
        directory=Path.cwd() if host == "local" else Path("/"),
        files=files,
        renewal=outside and Renewal(drawn_as(os.environ, over_ssh=over_ssh), *outside),
    )
    behind_tmux = not direct or "TMUX" in os.environ
    ringing = Ringing(notifications, behind_tmux=behind_tmux) if notifications else None
    return CockpitApp(
        client,
        around,
        theme=theme,
        theme_folders=theme_folders,
        remember_in=remember_in,
        filters=filters(glyphs, colours, os.environ),
        ringing=ringing,
        settings=settings,
    )


def run(
    client: Supervisor | JoinedClient,
    *,
    attach: Attach,
    direct: bool = False,
    host: str = "local",
    theme: str = "night",
    theme_folders: Iterable[Path] = (),
    refresh: Literal["auto", "low"] = "auto",
    keys: Mapping[str, str] | None = None,
    files: Callable[[], Files] | None = None,
    remember_in: Path | None = None,
    glyphs: Glyphs = "auto",
    colours: Colours = "auto",
    notifications: Notifications | None = None,
    settings: Settings | None = None,
    outside: Outside | None = None,
) -> int:
    """Run it until it ends; 0 only if the pilot left it. The supervisor and the agents go on."""
    if not sys.stdout.isatty():
        print("cockpit needs a terminal; try: cockpit status", file=sys.stderr)
        return 2
    for name in ("COLUMNS", "LINES"):
        # A shell's word for the size would stand for ever; the terminal itself knows better.
        os.environ.pop(name, None)
    app = build(
        client,
        attach=attach,
        direct=direct,
        host=host,
        theme=theme,
        theme_folders=theme_folders,
        refresh=refresh,
        keys=keys,
        files=files,
        remember_in=remember_in,
        glyphs=glyphs,
        colours=colours,
        notifications=notifications,
        settings=settings,
        outside=outside,
    )
    collect_from_here()
    if app.run():
        return 0
    if not app.return_code:
        print(ENDED_BY_ITSELF, file=sys.stderr)
    return app.return_code or 1


async def edit(file: Path) -> None:
    """Open a file in `$VISUAL` or `$EDITOR`, in this terminal. Raises `ProgramMissing`."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    argv = [*shlex.split(command), str(file)]
    try:
        process = await asyncio.create_subprocess_exec(*argv)
    except OSError as error:
        raise ProgramMissing(
            f"the editor {argv[0]} could not be started", str(error), "Set EDITOR."
        ) from error
    await process.wait()

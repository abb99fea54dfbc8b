"""Build the full-screen application around a client, and run it in this terminal.

Uses no sockets and no tmux: the caller passes the function that shows an agent's pane.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cockpit.cli.fast_path import resume_gc
from cockpit.config.paths import DEMO_VARIABLE, KEPT
from cockpit.core.deferred_dataclass import dataclass

if TYPE_CHECKING:
    from cockpit.client.client import Supervisor
    from cockpit.client.joined_client import JoinedClient
    from cockpit.config.files import Files
    from cockpit.config.hooks import Notifications
    from cockpit.config.schema import Settings
    from cockpit.tui.app import CockpitApp
    from cockpit.tui.state.pace import Refresh
    from cockpit.tui.terminal.attach import Attach
    from cockpit.tui.terminal.capabilities import Colours, Glyphs


class ReloadTargets(NamedTuple):
    """Functions that apply reloaded settings outside the screen, or watch files and terminals.

    `ReloadDependencies` in `tui/state/settings_reload.py` describes each function.
    """

    hosts: Callable[[Settings], Mapping[str, Supervisor]]
    watch: Callable[[Callable[[], None]], Callable[[], None]]
    let_through: Callable[[], None]
    watch_terminals: Callable[[Callable[[bool], None]], Callable[[], None]] | None = None


DEMO_ENDS = "This ends the demo and its agents, and removes its folder."
DEMO_ENDS_KEPT = "This ends the demo and its agents. Its folder is kept."
UNEXPECTED_END = (
    "cockpit: the screen ended unexpectedly; please report this. "
    "Your agents keep running. To open the screen again: cockpit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """The appearance of the screen, and the functions that it calls."""

    attach: Attach
    """Shows an agent's pane, by name."""
    copy: Callable[[str], Awaitable[None]] | None = None
    """Copies text to the terminal's clipboard; see `UIContext.copy`."""
    attached: Callable[[], Awaitable[int]] | None = None
    """Returns the number of attached terminals; see `UIContext.attached`."""
    direct: bool = False
    """True if the screen suspends while a pane is shown in its terminal. Otherwise `attach` selects
    another window of the tmux server in which the screen runs."""
    host: str = "local"
    theme: str = "night"
    theme_folders: Iterable[Path] = ()
    refresh: Refresh = "auto"
    keys: Mapping[str, str] = field(default_factory=dict)
    files: Callable[[], Files] | None = None
    """Reads the configuration from disk, to save settings; None if the screen cannot save them."""
    remember_in: Path | None = None
    glyphs: Glyphs = "auto"
    colours: Colours = "auto"
    notifications: Notifications | None = None
    settings: Settings | None = None
    """The settings with which the screen starts; reloaded settings are compared with these."""
    outside: ReloadTargets | None = None
    """Functions that apply reloaded settings outside the screen; None if the screen cannot reload
    settings."""
    say_after: Callable[[str], None] = print
    """Shows a line in the user's shell, after the user has left the screen."""


def ends_on_leaving(environment: Mapping[str, str]) -> str:
    """Return a sentence about the consequences of leaving the screen; empty outside the demo."""
    demo = environment.get(DEMO_VARIABLE)
    return {None: "", KEPT: DEMO_ENDS_KEPT}.get(demo, DEMO_ENDS)


def build(client: Supervisor | JoinedClient, options: ScreenOptions) -> CockpitApp:
    """Return the application, not yet running."""
    from cockpit.cli.editor import edit
    from cockpit.tui.app import CockpitApp
    from cockpit.tui.state.context import UIContext
    from cockpit.tui.state.pace import pace
    from cockpit.tui.state.settings_reload import ReloadDependencies, drawn_as
    from cockpit.tui.terminal.bell import Bell
    from cockpit.tui.terminal.capabilities import filters

    over_ssh = "SSH_CONNECTION" in os.environ
    chosen_pace = pace(options.refresh, over_ssh=over_ssh)
    ui = UIContext(
        attach=options.attach,
        edit=edit,
        copy=options.copy,
        attached=options.attached,
        direct=options.direct,
        pace=chosen_pace,
        keys=dict(options.keys),
        host=options.host,
        home=str(Path.home()) if options.host == "local" else "",
        directory=Path.cwd() if options.host == "local" else Path("/"),
        files=options.files,
        ends_on_leaving=ends_on_leaving(os.environ),
        has_tour=DEMO_VARIABLE in os.environ,
        reload=options.outside
        and ReloadDependencies(drawn_as(os.environ), *options.outside, over_ssh=over_ssh),
    )
    behind_tmux = not options.direct or "TMUX" in os.environ
    bell = Bell(options.notifications, behind_tmux=behind_tmux) if options.notifications else None
    return CockpitApp(
        client,
        ui,
        theme=options.theme,
        theme_folders=options.theme_folders,
        remember_in=options.remember_in,
        filters=filters(options.glyphs, options.colours, os.environ, is_low=chosen_pace.is_low),
        bell=bell,
        settings=options.settings,
    )


def run(client: Supervisor | JoinedClient, options: ScreenOptions) -> int:
    """Run the screen until it ends; return 0 only if the user quit. Agents keep running."""
    if not sys.stdout.isatty():
        print("cockpit: the screen needs a terminal. Try: cockpit status", file=sys.stderr)
        return 2
    for name in ("COLUMNS", "LINES"):
        # A size from the shell's environment would never change; use the terminal's size instead.
        os.environ.pop(name, None)
    app = build(client, options)
    resume_gc()
    if app.run():
        if line := app.what_keeps_running():
            options.say_after(line)
        return 0
    if not app.return_code:
        print(UNEXPECTED_END, file=sys.stderr)
    return app.return_code or 1

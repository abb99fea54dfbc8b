"""The application: theme, keys, the home screen. It knows nothing about agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Event, Key
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen

from cockpit.client.client import Supervisor
from cockpit.client.joined import JoinedClient
from cockpit.core.safetext import safe_line
from cockpit.tui import themes
from cockpit.tui.actions import ACTIONS
from cockpit.tui.bindings import keymap
from cockpit.tui.bursts import Burst, burst_of
from cockpit.tui.frugal import FrugalDriver
from cockpit.tui.model import Change, Model
from cockpit.tui.present.keys import shown_key
from cockpit.tui.remembered import Memory
from cockpit.tui.renewal import SettingsRead
from cockpit.tui.ringing import Ringing
from cockpit.tui.screens.fleet import FleetScreen
from cockpit.tui.surroundings import Surroundings
from cockpit.tui.taking_up import TakingUp

if TYPE_CHECKING:
    from cockpit.config.schema import Settings


class CockpitApp(App[bool]):
    """Shows the fleet of a supervisor, or of several. Closing it ends nothing but itself.

    Its return value is True when the pilot left it, and nothing else makes it so.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "app.tcss",
        "screens/fleet.tcss",
        "screens/review.tcss",
        "screens/agent.tcss",
        "screens/inbox.tcss",
        "screens/history.tcss",
    ]
    TITLE = "cockpit"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-tall")]  # noqa: RUF012 (Textual declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", show=False, priority=True)]

    def __init__(
        self,
        client: Supervisor | JoinedClient,
        around: Surroundings,
        *,
        theme: str = themes.DEFAULT,
        theme_folders: Iterable[Path] = (),
        remember_in: Path | None = None,
        filters: Sequence[LineFilter] = (),
        ringing: Ringing | None = None,
        settings: Settings | None = None,
    ) -> None:
        """`settings` are those that it is begun with."""
        super().__init__()
        self.animation_level = "none"
        self.burst: Burst | None = None
        """That of the key which is acted on now: bindings know their key, but not how it came."""
        self._client = client
        self._around = around
        self._drawn_through = tuple(filters)
        self._ringing = ringing
        self._themes = themes.load(theme_folders)
        self._theme_wanted = theme
        self._memory = Memory(remember_in)
        here, *others = followed(client, around.host)
        self.model = Model(self._memory.view.selected, here, others)
        self._taking_up = TakingUp(self, self.model, around, ringing, settings)

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key):
            await super().on_event(event)
            return
        self.burst = burst_of(event)
        try:
            await super().on_event(event)
        finally:
            self.burst = None

    async def action_quit(self) -> None:
        self.exit(True)

    def get_driver_class(self) -> type[Driver]:
        usual = super().get_driver_class()
        return FrugalDriver if usual is LinuxDriver else usual

    def on_resize(self) -> None:
        self._forget_terminal()

    def get_line_filters(self) -> Sequence[LineFilter]:
        # Textual's own greys, for NO_COLOR, are colours too: ours take their place.
        usual = [
            one for one in super().get_line_filters() if not isinstance(one, Monochrome | NoColor)
        ]
        return [*usual, *self._drawn_through]

    def on_redraw_wanted(self) -> None:
        self._forget_terminal()
        self.refresh(layout=True)

    def _forget_terminal(self) -> None:
        if isinstance(self._driver, FrugalDriver):
            self._driver.forget()

    def watch_sub_title(self, said: str) -> None:
        if isinstance(self._driver, FrugalDriver):
            self._driver.entitle(f"{said} - {self.TITLE}" if said else str(self.TITLE))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme.to_color_system().generate())

    def get_default_screen(self) -> Screen[None]:
        return FleetScreen(self.model, self._client, self._around, self._memory)

    def on_click(self, event: events.Click) -> None:
        """On the line at the top, where nothing of its own takes it: everything there is to do."""
        if event.screen_y == 0 and not self.screen.is_modal:
            self.action_command_palette()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What can be done where the pilot is, or why not now; and of Textual's own the theme."""
        act = getattr(screen, "action_act", None)
        context = getattr(screen, "CONTEXT", None)
        for action in ACTIONS:
            if act is not None and action.context == context:
                reason = action.why_not(self.model)
                said = f"Not now: {safe_line(reason, 200)}" if reason else action.sentence
                key = shown_key(action, self._around.keys)
                do = partial(act, action.id)
                yield SystemCommand(action.title.capitalize(), f"{key}  {said}", do)
        yield SystemCommand("Theme", "Change the colours of this screen.", self.search_themes)
        if context != "fleet":
            said = "Leave the screen; agents and supervisor go on."
            yield SystemCommand("Quit", said, self.action_quit)

    def on_mount(self) -> None:
        self._use_theme()
        self.watch_sub_title(self.sub_title)
        self.set_keymap(keymap(self._around.keys))
        self.model.listen(self._heard)
        self._taking_up.begin(followed(self._client, self._around.host))

    def on_unmount(self) -> None:
        self._taking_up.end()

    def on_settings_read(self, message: SettingsRead) -> None:
        self._taking_up.take_up(message.loaded)

    def draw_through(self, filters: Sequence[LineFilter]) -> None:
        """Have every line pass these from now on."""
        self._drawn_through = tuple(filters)
        for screen in self.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def _use_theme(self) -> None:
        for found in self._themes.themes.values():
            self.register_theme(found)
        name, trouble = themes.chosen(self._theme_wanted, self._themes)
        self.theme = name
        if trouble:
            self.notify(safe_line(trouble, 300), title="theme", severity="warning", markup=False)

    def _heard(self, change: Change, name: str | None) -> None:
        if change is Change.SELECTION:
            self._memory.keep(selected=name)
        elif change is Change.HAPPENED and self._ringing:
            self._ringing.heard(self.model.events[-1], self, self._ring)

    def _ring(self, sequence: str) -> None:
        if isinstance(self._driver, FrugalDriver):
            self._driver.ring(sequence)


def followed(client: Supervisor | JoinedClient, host: str) -> dict[str, Supervisor]:
    """Whom to follow, by host, the machine that is looked at first."""
    return client.members if isinstance(client, JoinedClient) else {host: client}

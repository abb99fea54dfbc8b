"""The Textual application: theme, keys and home screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path, PurePath
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

import textual.screen
from textual import constants, events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Event, Key
from textual.filter import LineFilter, Monochrome, NoColor
from textual.notifications import Notification, SeverityLevel
from textual.screen import Screen
from textual.theme import Theme

from cockpit.client.client import Supervisor
from cockpit.client.joined_client import JoinedClient
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.actions import ACTIONS, BY_ID, key_label, keys_of
from cockpit.tui.keys.bindings import keymap
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.paths import short_paths
from cockpit.tui.present.span import broken
from cockpit.tui.reload import SettingsReloader
from cockpit.tui.screens.fleet.screen import FleetScreen
from cockpit.tui.screens.leaving import leave, what_keeps_running
from cockpit.tui.screens.too_small import LEAST, TooSmall
from cockpit.tui.state.context import UIContext
from cockpit.tui.state.messages import UNTIL_A_KEY, Messages
from cockpit.tui.state.model import Change, Model
from cockpit.tui.state.pace import Throttled
from cockpit.tui.state.remembered import ViewMemory
from cockpit.tui.state.settings_reload import SettingsRead
from cockpit.tui.terminal import themes
from cockpit.tui.terminal.bell import Bell
from cockpit.tui.terminal.driver import DiffingDriver
from cockpit.tui.terminal.paste_guard import Burst, burst_of

if TYPE_CHECKING:
    from textual.command import Provider

    from cockpit.config.schema import Settings


FRAMES_PER_SECOND = 120
"""Maximum frames per second. With Textual's default of 60, the effect of a key is often shown only
with the second frame (p95: 30 ms). A higher maximum costs nothing while nothing changes."""
textual.screen.UPDATE_PERIOD = 1 / max(FRAMES_PER_SECOND, constants.MAX_FPS)  # type: ignore[misc]

RECENT = 5
"""Number of recently run actions that the command palette lists before the other actions."""
KEEP_SECONDS = 1.0
"""Minimum seconds between two saves of the selection."""
SYSTEM = "-textual-system"
"""The class of Textual's own widgets, such as the one that shows messages."""
MESSAGE_EDGES, MESSAGE_LINES = 3, 6
"""Cells beside a message's text, and maximum lines of a message; both as in `app.tcss`."""


def _palette() -> type[Provider]:
    from cockpit.tui.screens.palette import Actions

    return Actions


class CockpitApp(App[bool]):
    """Shows the agents of one or more supervisors. Closing the application does not stop agents.

    `run` returns True only if the user quit.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "app.tcss",
        "screens/fleet/fleet.tcss",
        "screens/review/review.tcss",
        "screens/permission/permission.tcss",
        "screens/agent/agent.tcss",
        "screens/inbox/inbox.tcss",
        "screens/history/history.tcss",
        "screens/elsewhere/elsewhere.tcss",
    ]
    TITLE = "cockpit"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-tall")]  # noqa: RUF012 (Textual declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", show=False, priority=True)]

    def __init__(
        self,
        client: Supervisor | JoinedClient,
        ui: UIContext,
        *,
        theme: str = themes.DEFAULT,
        theme_folders: Iterable[Path] = (),
        remember_in: Path | None = None,
        filters: Sequence[LineFilter] = (),
        bell: Bell | None = None,
        settings: Settings | None = None,
    ) -> None:
        """`settings` are the initial settings; reloaded settings are compared with them."""
        # Set first: Textual's constructor reads the colours.
        self._ui = ui
        self._generated: tuple[Theme, dict[str, str]] | None = None
        self._theme_of: dict[str, Theme] = {}
        super().__init__()
        self.animation_level = "none"
        self.burst: Burst | None = None
        """The `Burst` of the key being handled; None while no key is handled. Stored here, because
        Textual does not pass the key event to bindings."""
        self.key_at: float | None = None
        """When the key that is being handled was read from the terminal, in monotonic seconds."""
        self._client = client
        self._messages = Messages()
        self._recent: list[str] = []
        """The ids of the actions last run from the command palette, the most recent first."""
        self._drawn_through = tuple(filters)
        self._bell = bell
        self._themes = themes.load(theme_folders)
        self._theme_wanted = theme
        self._memory = ViewMemory(remember_in)
        self._kept = Throttled(self, lambda: KEEP_SECONDS, self._memory.keep)
        here, *others = followed(client, ui.host)
        self.model = Model(self._memory.view.selected, here, others)
        self.model.key_of = lambda action: next(map(key_label, keys_of(BY_ID[action], ui.keys)), "")
        self._settings_reloader = SettingsReloader(
            self, self.model, ui, bell, settings, draw_through=self.draw_through
        )

    @property
    def is_low(self) -> bool:
        """Whether the screen draws less, to save bytes on a slow connection."""
        return self._ui.pace.is_low

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key):
            await super().on_event(event)
            return
        if self._notifications and self._messages.is_read(event.time):
            self.clear_notifications()
        self.burst, self.key_at = burst_of(event), event.time
        try:
            await super().on_event(event)
        finally:
            self.burst = self.key_at = None

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message at the top of the screen, in place of the previous message.

        The home directory is shown as `~`. An error stays until a key is pressed.
        """
        text = f"{title.rstrip('.')}. {message}" if title else message
        text = short_paths(text, self._ui.home)
        text = self._messages.counted(" ".join(text.split()), monotonic())
        seconds = UNTIL_A_KEY if severity == "error" else timeout
        super().notify(text, severity=severity, timeout=seconds, markup=markup)

    def on_notify(self) -> None:
        self._notifications.clear()

    def _refresh_notifications(self) -> None:
        super()._refresh_notifications()
        self._make_room()

    def _unnotify(self, notification: Notification, refresh: bool = True) -> None:
        super()._unnotify(notification, refresh)
        self._make_room()

    def _make_room(self) -> None:
        """Move the screen down by the lines of the message below the first one.

        So a message covers the title only, not what the message is about. A low screen has no lines
        to spare.
        """
        if not self._screen_stack or self.screen.is_modal:
            return
        top = next((child for child in self.screen.children if not child.has_class(SYSTEM)), None)
        if top is None:
            return
        width = max(1, self.size.width - MESSAGE_EDGES)
        lines = [len(broken(notification.message, width)) for notification in self._notifications]
        is_low = self.screen.has_class("-low")
        room = 0 if is_low else min(max(lines, default=1), MESSAGE_LINES) - 1
        if top.styles.margin.top != room:
            top.styles.margin = (room, 0, 0, 0)

    async def action_quit(self) -> None:
        leave(self, self._ui)

    def what_keeps_running(self) -> str:
        """Return the line to print in the user's shell after leaving: how many agents keep running,
        and the command that opens the screen again. See `leaving.what_keeps_running`."""
        return what_keeps_running(self.model, self._ui)

    def action_help_quit(self) -> None:
        """Ask whether to leave.

        Textual runs this action for Ctrl-C; Textual's own version shows a hint instead.
        """
        leave(self, self._ui, ask=True)

    def get_driver_class(self) -> type[Driver]:
        usual = super().get_driver_class()
        return DiffingDriver if usual is LinuxDriver else usual

    def on_resize(self) -> None:
        self._forget_terminal()
        self.call_after_refresh(self._check_size)

    def _check_size(self) -> None:
        """Show the screen `TooSmall` while the terminal is smaller than `LEAST`."""
        columns, lines = LEAST
        small = self.size.width < columns or self.size.height < lines
        shown = isinstance(self.screen, TooSmall)
        if small and not shown:
            self.push_screen(TooSmall())
        elif shown and not small:
            self.pop_screen()

    def get_line_filters(self) -> Sequence[LineFilter]:
        # Textual's filters for NO_COLOR use greys; replace them with ours, which use no colour.
        usual = [
            line_filter
            for line_filter in super().get_line_filters()
            if not isinstance(line_filter, Monochrome | NoColor)
        ]
        return [*usual, *self._drawn_through]

    def on_redraw_wanted(self) -> None:
        self._forget_terminal()
        self.refresh(layout=True)

    def _forget_terminal(self) -> None:
        if isinstance(self._driver, DiffingDriver):
            self._driver.forget()

    def watch_sub_title(self, sub_title: str) -> None:
        if isinstance(self._driver, DiffingDriver):
            self._driver.set_title(f"{sub_title} - {self.TITLE}" if sub_title else str(self.TITLE))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme.to_color_system().generate())

    def register_theme(self, theme: Theme) -> None:
        super().register_theme(theme)
        self._theme_of[theme.name] = theme

    def unregister_theme(self, theme_name: str) -> None:
        super().unregister_theme(theme_name)
        self._theme_of.pop(theme_name, None)

    def get_theme(self, theme_name: str) -> Theme | None:
        # Textual asks for the theme with each line that it draws, and copies its table of themes.
        return self._theme_of.get(theme_name) or super().get_theme(theme_name)

    def get_css_variables(self) -> dict[str, str]:
        # Every widget that draws lines asks for the variables; generating them takes a millisecond.
        if not self._generated or self._generated[0] is not self.current_theme:
            self._generated = self.current_theme, super().get_css_variables()
        variables = self._generated[1]
        return themes.with_few_colours(variables) if self.is_low else dict(variables)

    def get_default_screen(self) -> Screen[None]:
        return FleetScreen(self.model, self._client, self._ui, self._memory)

    def on_click(self, event: events.Click) -> None:
        """Open the command palette on a click in the top line."""
        if event.screen_y == 0 and not self.screen.is_modal:
            self.action_command_palette()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the palette's entries: the current screen's actions, the theme, and Quit.

        The actions last run from the palette come first. Unavailable actions come after all
        available ones, each with the reason.
        """
        act = getattr(screen, "action_act", None)
        context = getattr(screen, "CONTEXT", None)
        from cockpit.tui.screens.palette import NOT_NOW

        model: Model = getattr(screen, "action_model", self.model)
        entries: list[tuple[tuple[bool, int], SystemCommand]] = []
        for action in ACTIONS:
            if act is None or action.context != context:
                continue
            reason = action.why_not(model)
            sentence = f"{NOT_NOW}{safe_line(reason, 200)}" if reason else action.sentence
            key = shown_key(action, self._ui.keys)
            do = partial(self._run, act, action.id)
            recent = self._recent.index(action.id) if action.id in self._recent else RECENT
            entry = SystemCommand(action.title.capitalize(), f"{key}  {sentence}", do)
            entries.append(((bool(reason), recent), entry))
        yield from (entry for _, entry in sorted(entries, key=lambda ranked: ranked[0]))
        yield SystemCommand("Theme", "Change the theme.", self.search_themes)
        if context != "fleet":
            sentence = "Quit; agents and supervisor keep running."
            yield SystemCommand("Quit", sentence, self.action_quit)

    def setting_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield one palette entry per setting; running it opens the settings form at that setting.

        Yields nothing on a screen without actions, or if the configuration cannot be changed here.
        """
        fleet = self.screen_stack[0]
        if self._ui.files is None or not isinstance(fleet, FleetScreen):
            return
        if not hasattr(screen, "action_act"):
            return
        from cockpit.tui.screens.settings.fields import PATHS, sentence, title

        for path in PATHS:
            do = partial(fleet.commands.change_setting, path)
            yield SystemCommand(title(path), sentence(path), do)

    def _run(self, act: Callable[[str], object], action: str) -> None:
        self._recent = [action, *(recent for recent in self._recent if recent != action)][:RECENT]
        act(action)

    def on_mount(self) -> None:
        self._use_theme()
        self.watch_sub_title(self.sub_title)
        self.set_keymap(keymap(self._ui.keys))
        self.model.listen(self._heard)
        self._settings_reloader.begin(followed(self._client, self._ui.host))
        self.call_after_refresh(self._check_size)

    def on_unmount(self) -> None:
        self._memory.keep()
        self._settings_reloader.end()

    def on_settings_read(self, message: SettingsRead) -> None:
        self._settings_reloader.apply(message.loaded)

    def draw_through(self, filters: Sequence[LineFilter]) -> None:
        """Replace the line filters and redraw all screens, after a change of filters or pace."""
        self._drawn_through = tuple(filters)
        self.theme_changed_signal.publish(self.current_theme)
        for screen in self.screen_stack:
            if arrange := getattr(screen, "on_resize", None):
                arrange()
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def _use_theme(self) -> None:
        for theme in self._themes.themes.values():
            self.register_theme(theme)
        name, trouble = themes.chosen(self._theme_wanted, self._themes)
        self.theme = name
        if trouble:
            self.notify(safe_line(trouble, 300), title="theme", severity="warning", markup=False)

    def _heard(self, change: Change, name: str | None) -> None:
        if change in {Change.CONNECTION, Change.FLEET} and isinstance(self._client, JoinedClient):
            parts = self.model.parts.items()
            self._client.duplicates = frozenset(host for host, part in parts if part.same_as)
        if change is Change.SELECTION:
            self._memory.change(selected=name)
            self._kept.want()
        elif change is Change.HAPPENED and self._bell:
            self._bell.heard(self.model.events[-1], self, self._ring)

    def _ring(self, sequence: str) -> None:
        if isinstance(self._driver, DiffingDriver):
            self._driver.ring(sequence)


def followed(client: Supervisor | JoinedClient, host: str) -> dict[str, Supervisor]:
    """Return the supervisors to follow, by host; the main host first."""
    return client.members if isinstance(client, JoinedClient) else {host: client}

"""Apply changed settings to the running screen: keys, colours, notifications and hosts.

Used when a configuration file changes, and when a form has saved one. Only the changed settings are
applied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from cockpit.client.client import Supervisor
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.bindings import keymap
from cockpit.tui.state.background import in_background
from cockpit.tui.state.follow import follow
from cockpit.tui.state.model import Model
from cockpit.tui.state.settings_reload import PAUSE, ReloadDependencies
from cockpit.tui.terminal.bell import Bell
from cockpit.tui.widgets.line import KeyLine

if TYPE_CHECKING:
    from textual.app import App
    from textual.filter import LineFilter

    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import Settings
    from cockpit.tui.state.context import UIContext


class SettingsReloader:
    """Applies new settings to the application, and follows the configured supervisors."""

    def __init__(
        self,
        app: App[Any],
        model: Model,
        ui: UIContext,
        bell: Bell | None,
        settings: Settings | None,
        *,
        draw_through: Callable[[Sequence[LineFilter]], None],
    ) -> None:
        self._app = app
        self._draw_through = draw_through
        self._model = model
        self._ui = ui
        self._bell = bell
        self._settings = settings
        self._followed: dict[str, Supervisor] = {}
        self._stop_watching: list[Callable[[], None]] = []
        self._over_ssh = ui.reload is not None and ui.reload.over_ssh

    def begin(self, supervisors: Mapping[str, Supervisor]) -> None:
        """Follow these supervisors, and watch the configuration files and attached terminals."""
        self._followed = dict(supervisors)
        for host in self._followed:
            self._follow(host)
        if self._ui.reload and self._ui.files:
            self._stop_watching.append(self._ui.reload.watch(self._file_changed))
        if self._ui.reload and self._ui.reload.watch_terminals:
            self._stop_watching.append(self._ui.reload.watch_terminals(self._terminals_changed))

    def end(self) -> None:
        """Stop watching the files and the terminals."""
        for stop in self._stop_watching:
            stop()

    def apply(self, loaded: Loaded) -> None:
        """Apply the settings that differ from the current ones.

        Applies only the keys if the screen cannot reload, or has no initial settings.
        """
        settings, reload, before = loaded.settings, self._ui.reload, self._settings
        self._apply_keys(settings.keys)
        if reload is None or before is None or settings == before:
            return
        self._settings = settings
        if settings.cockpit != before.cockpit:
            self._apply_look(settings, before, reload)
        if self._bell and settings.notifications != before.notifications:
            self._bell.use_settings(settings.notifications)
            if settings.notifications.terminal in ("osc9", "osc777"):
                reload.let_through()
        if settings.hosts != before.hosts:
            self._set_hosts(reload.hosts(settings))

    def _terminals_changed(self, over_ssh: bool) -> None:
        settings, reload = self._settings, self._ui.reload
        if over_ssh == self._over_ssh or settings is None or reload is None:
            return
        self._over_ssh = over_ssh
        filters, pace = reload.drawn(settings.cockpit, over_ssh)
        if pace != self._ui.pace:
            self._ui.pace.copy_from(pace)
            self._draw_through(filters)

    def _file_changed(self) -> None:
        in_background(self._app, self._read_again, group="settings", exclusive=True)

    async def _read_again(self) -> None:
        await asyncio.sleep(PAUSE)
        assert self._ui.files
        try:
            files = await asyncio.to_thread(self._ui.files)
        except CockpitError as error:
            hint = f" {error.hint}" if error.hint else ""
            text = f"{error.title}. Keeping the previous settings.{hint}"
            self._notify(text, severity="warning")
            return
        self.apply(files.loaded)

    def _apply_keys(self, configured: Mapping[str, str]) -> None:
        keys = self._ui.keys
        if dict(configured) == keys:
            return
        keys.clear()
        keys.update(configured)
        self._app.set_keymap(keymap(keys))
        for screen in self._app.screen_stack:
            for line in screen.query(KeyLine):
                line.show()

    def _apply_look(self, settings: Settings, before: Settings, reload: ReloadDependencies) -> None:
        filters, pace = reload.drawn(settings.cockpit, self._over_ssh)
        self._ui.pace.copy_from(pace)
        theme = settings.cockpit.theme
        if theme != before.cockpit.theme and theme in self._app.available_themes:
            self._app.theme = theme
        self._draw_through(filters)

    # Hosts

    def _follow(self, host: str) -> None:
        task = partial(follow, self._followed[host], self._model.parts[host])
        in_background(self._app, task, group=f"follow {host}", exclusive=True)

    def _set_hosts(self, supervisors: Mapping[str, Supervisor]) -> None:
        """Follow exactly these supervisors; connect again to a host whose client changed."""
        _here, *others = supervisors
        unchanged = {host for host in supervisors if self._followed.get(host) is supervisors[host]}
        removed = [host for host in self._followed if host not in supervisors]
        changed = self._followed.keys() & supervisors.keys() - unchanged
        for host in self._followed.keys() - unchanged:
            self._app.workers.cancel_group(self._app, f"follow {host}")
        self._model.set_hosts([host for host in others if host in unchanged])
        self._model.set_hosts(others)
        self._followed = dict(supervisors)
        new = [host for host in supervisors if host not in unchanged]
        for host in new:
            self._follow(host)
        messages = [
            f"{host} was removed from your config; its agents keep running." for host in removed
        ]
        messages += [
            f"{host} was changed in your config; connecting again."
            if host in changed
            else f"{host} was added to your config; connecting."
            for host in new
        ]
        self._notify(" ".join(messages))

    def _notify(
        self, text: str, severity: Literal["information", "warning"] = "information"
    ) -> None:
        self._app.notify(safe_line(text, 400), severity=severity, markup=False, timeout=8)

"""Having other settings count on the screen that runs: keys, colours, calls, and whom to follow.

A file that became another one, and a form that wrote one, come to the same place. What is as it
was is not touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from cockpit.client.client import Supervisor
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.tui.background import in_background
from cockpit.tui.bindings import keymap
from cockpit.tui.follow import follow
from cockpit.tui.model import Model
from cockpit.tui.renewal import PAUSE, Renewal
from cockpit.tui.ringing import Ringing
from cockpit.tui.widgets.line import KeyLine

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import Settings
    from cockpit.tui.app import CockpitApp
    from cockpit.tui.surroundings import Surroundings


class TakingUp:
    """Knows what counts now, and who is followed."""

    def __init__(
        self,
        app: CockpitApp,
        model: Model,
        around: Surroundings,
        ringing: Ringing | None,
        settings: Settings | None,
    ) -> None:
        self._app = app
        self._model = model
        self._around = around
        self._ringing = ringing
        self._said = settings
        self._followed: dict[str, Supervisor] = {}
        self._stop_watching: Callable[[], None] = lambda: None

    def begin(self, whom: Mapping[str, Supervisor]) -> None:
        """Follow these, and look out for files that change."""
        self._followed = dict(whom)
        for host in self._followed:
            self._follow(host)
        if self._around.renewal and self._around.files:
            self._stop_watching = self._around.renewal.watch(self._file_changed)

    def end(self) -> None:
        """Look out no longer."""
        self._stop_watching()

    def take_up(self, loaded: Loaded) -> None:
        """Have these settings count here and now."""
        said, renewal, before = loaded.settings, self._around.renewal, self._said
        self._take_keys(said.keys)
        if renewal is None or before is None or said == before:
            return
        self._said = said
        if said.cockpit != before.cockpit:
            self._draw_by(said, before, renewal)
        if self._ringing and said.notifications != before.notifications:
            self._ringing.ring_by(said.notifications)
            if said.notifications.terminal in ("osc9", "osc777"):
                renewal.let_through()
        if said.hosts != before.hosts:
            self._have(renewal.hosts(said))

    def _file_changed(self) -> None:
        in_background(self._app, self._read_again, group="settings", alone=True)

    async def _read_again(self) -> None:
        await asyncio.sleep(PAUSE)
        assert self._around.files
        try:
            files = await asyncio.to_thread(self._around.files)
        except CockpitError as error:
            hint = f" {error.hint}" if error.hint else ""
            words = f"{error.title}.{hint} The screen goes on with what it had."
            self._tell(words, severity="warning")
            return
        self.take_up(files.loaded)

    def _take_keys(self, said: Mapping[str, str]) -> None:
        keys = self._around.keys
        if dict(said) == keys:
            return
        keys.clear()
        keys.update(said)
        self._app.set_keymap(keymap(keys))
        for screen in self._app.screen_stack:
            for line in screen.query(KeyLine):
                line.show()

    def _draw_by(self, said: Settings, before: Settings, renewal: Renewal) -> None:
        filters, pace = renewal.drawn(said.cockpit)
        self._around.pace.become(pace)
        theme = said.cockpit.theme
        if theme != before.cockpit.theme and theme in self._app.available_themes:
            self._app.theme = theme
        self._app.draw_through(filters)

    # Whom to follow

    def _follow(self, host: str) -> None:
        task = partial(follow, self._followed[host], self._model.parts[host])
        in_background(self._app, task, group=f"follow {host}", alone=True)

    def _have(self, wanted: Mapping[str, Supervisor]) -> None:
        """Follow these and no others; one that is reached in another way begins anew."""
        _here, *others = wanted
        stays = {host for host in wanted if self._followed.get(host) is wanted[host]}
        gone = [host for host in self._followed if host not in wanted]
        for host in self._followed.keys() - stays:
            self._app.workers.cancel_group(self._app, f"follow {host}")
        self._model.have([host for host in others if host in stays])
        self._model.have(others)
        self._followed = dict(wanted)
        fresh = [host for host in wanted if host not in stays]
        for host in fresh:
            self._follow(host)
        told = [f"{host} is no host of yours any more: its agents go on there." for host in gone]
        told += [f"{host} is a host of yours now: it is being asked." for host in fresh]
        self._tell(" ".join(told))

    def _tell(
        self, words: str, severity: Literal["information", "warning"] = "information"
    ) -> None:
        self._app.notify(safe_line(words, 400), severity=severity, markup=False, timeout=8)

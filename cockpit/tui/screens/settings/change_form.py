"""The base of forms that change the configuration: validates while typing, saves on submit.

`config.files` validates the changes and chooses the file for each change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.widgets import Static

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError, NoSupervisor, NotNow
from cockpit.core.safetext import safe_line
from cockpit.tui.present.paths import short_path
from cockpit.tui.screens.form import Form
from cockpit.tui.screens.requests import in_one_line
from cockpit.tui.state.background import in_background
from cockpit.wire.verbs import Load

if TYPE_CHECKING:
    from cockpit.config.files import Changes, Files
    from cockpit.config.loaded import Loaded

PAUSE = 0.1
"""Seconds between the last typed letter and the validation of the form."""


class ChangeForm(Form[bool]):
    """A form that changes the configuration. Returns True if a change was saved."""

    def __init__(self, client: Client, read_files: Callable[[], Files], home: str) -> None:
        super().__init__()
        self._client = client
        self._read_files = read_files
        self._home = home
        self._files: Files | None = None
        self._writing = False
        self.status_line = Static("", classes="dialog--words", markup=False)

    def changes(self) -> dict[tuple[str, ...], Any]:
        """Return the changes made in the form so far: new values by path, None for a reset."""
        raise NotImplementedError

    def trouble(self) -> str | None:
        """Return why the changes cannot be validated yet; None if they can be validated."""
        return None

    def aside(self, loaded: Loaded) -> str:
        """Return notes on valid changes, such as when a change applies; empty without notes."""
        return ""

    def show(self, loaded: Loaded) -> None:
        """Draw the settings in `loaded`.

        Called with the settings in the files; after each valid change, with the settings that
        saving would give.
        """

    def written(self, loaded: Loaded) -> None:
        """Apply the saved settings to the running application."""

    def on_mount(self) -> None:
        super().on_mount()
        self._read()

    def _read(self) -> None:
        """Read the files, and show their values or the error.

        Takes less than a millisecond, so the first frame shows all values.
        """
        try:
            self._files = self._read_files()
        except CockpitError as error:
            again = "Fix the file, then press Ctrl-S to reload."
            self.show_status(f"{in_one_line(error)} {again}", wrong=True)
            return
        self.show(self._files.loaded)
        self.judge()

    async def _read_again(self, why: str) -> None:
        """Load the files again after a change on disk; keep the user's input."""
        try:
            self._files = await asyncio.to_thread(self._read_files)
        except CockpitError as error:
            self._files = None
            again = "Fix the file, then press Ctrl-S to reload."
            self.show_status(f"{why}. {in_one_line(error)} {again}", wrong=True)
            return
        self.show(self._files.loaded)
        self.show_status(
            f"{why}: nothing was saved. Reloaded; press Ctrl-S again to save.", wrong=True
        )

    def judge(self) -> None:
        """Validate the form after a pause in typing."""
        in_background(self, self._try, group="try", exclusive=True)

    async def _try(self) -> None:
        await asyncio.sleep(PAUSE)
        files = self._files
        if files is None:
            return
        if (trouble := self.trouble()) is not None:
            self.show_status(trouble, wrong=True)
            return
        changes = self.changes()
        try:
            loaded = await asyncio.to_thread(files.tried, changes)
            where = await asyncio.to_thread(partial(self._where, files, changes, loaded))
        except CockpitError as error:
            self.show_status(in_one_line(error), wrong=True)
            return
        self.show(loaded)
        self.show_status(f"{self.aside(loaded)} {where}".strip(), wrong=False)

    def _where(self, files: Files, changes: Changes, then: Loaded) -> str:
        """Return a sentence about the files and lines that saving would change."""
        from cockpit.tui.present.edits import writing

        return writing(files.edits(changes, then), then, files.standing, self._home)

    def submit(self) -> None:
        if self._files is None:
            self._read()
        elif not self._writing:
            if (trouble := self.trouble()) is not None:
                self.show_status(trouble, wrong=True)
            elif not self.changes():
                self.show_status("No changes yet.", wrong=True)
            else:
                self._writing = True
                self.workers.cancel_group(self, "try")
                in_background(self, partial(self._write, self._files), group="write")

    async def _write(self, files: Files) -> None:
        try:
            paths = await asyncio.to_thread(files.write, self.changes())
            self._files = await asyncio.to_thread(self._read_files)
        except NotNow as error:
            await self._read_again(error.title)
            self._writing = False
            return
        except CockpitError as error:
            self.show_status(in_one_line(error), wrong=True)
            self._writing = False
            return
        self.written(self._files.loaded)
        saved = f"Saved {' and '.join(short_path(str(path), self._home) for path in paths)}."
        self.app.notify(f"{saved} {await self._reload(self._files)}", markup=False, timeout=6)
        self.dismiss(True)

    async def _reload(self, files: Files) -> str:
        """Ask the supervisor to read the files; return a message, empty on success."""
        config = str(files.project_path) if files.project_path else None
        try:
            await self._client.ask(Load(config=config, named=files.named))
        except NoSupervisor:
            return "The supervisor reads the file when it starts."
        except CockpitError as error:
            return safe_line(f"The supervisor keeps its previous settings: {error.title}.", 300)
        return ""

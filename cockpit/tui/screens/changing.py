"""A form that changes the configuration: tried while it is typed, and written where it says.

What is right, and in which file it goes, is `config.files`; what is changed is each form's own.
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
from cockpit.tui.background import in_background
from cockpit.tui.present.paths import short_path
from cockpit.tui.screens.errands import in_one_line
from cockpit.tui.screens.form import Form
from cockpit.wire.verbs import Load

if TYPE_CHECKING:
    from cockpit.config.files import Changes, Files
    from cockpit.config.loaded import Loaded

PAUSE = 0.1
"""Seconds without a letter before the change is tried."""


class ChangeForm(Form[bool]):
    """Answers True when something was written."""

    def __init__(self, client: Client, read_files: Callable[[], Files], home: str) -> None:
        super().__init__()
        self._client = client
        self._read_files = read_files
        self._home = home
        self._files: Files | None = None
        self._writing = False
        self.verdict = Static("", classes="dialog--words", markup=False)

    def changes(self) -> dict[tuple[str, ...], Any]:
        """What the pilot has changed so far."""
        raise NotImplementedError

    def trouble(self) -> str | None:
        """Why it cannot be tried yet, in words; None when it can."""
        return None

    def aside(self, loaded: Loaded) -> str:
        """What the change will not do although it is right, in words; mostly nothing."""
        return ""

    def show(self, loaded: Loaded) -> None:
        """Draw what would hold; called with what holds now, and after every change."""

    def written(self, loaded: Loaded) -> None:
        """Have it count on this screen at once."""

    def on_mount(self) -> None:
        super().on_mount()
        in_background(self, self._read, group="files")

    async def _read(self) -> None:
        try:
            self._files = await asyncio.to_thread(self._read_files)
        except CockpitError as error:
            again = "Nothing can be changed before. Mend it, then Ctrl-S reads it again."
            self.say(f"{in_one_line(error)} {again}", wrong=True)
            return
        self.show(self._files.loaded)
        self.judge()

    async def _read_again(self, why: str) -> None:
        """The file is another one by now: what is typed stays, and is tried on that one."""
        try:
            self._files = await asyncio.to_thread(self._read_files)
        except CockpitError as error:
            self._files = None
            again = "Mend it, then Ctrl-S reads it again."
            self.say(f"{why}. {in_one_line(error)} {again}", wrong=True)
            return
        self.show(self._files.loaded)
        self.say(f"{why}: nothing was written. It is read anew; Ctrl-S again writes.", wrong=True)

    def judge(self) -> None:
        """Try what stands in the form, once the pilot pauses."""
        in_background(self, self._try, group="try", alone=True)

    async def _try(self) -> None:
        await asyncio.sleep(PAUSE)
        files = self._files
        if files is None:
            return
        if (trouble := self.trouble()) is not None:
            self.say(trouble, wrong=True)
            return
        changes = self.changes()
        try:
            loaded = await asyncio.to_thread(files.tried, changes)
            where = await asyncio.to_thread(partial(self._where, files, changes, loaded))
        except CockpitError as error:
            self.say(in_one_line(error), wrong=True)
            return
        self.show(loaded)
        self.say(f"{self.aside(loaded)} {where}".strip(), wrong=False)

    def _where(self, files: Files, changes: Changes, then: Loaded) -> str:
        """Which files and lines are written, and what there is to know of them."""
        from cockpit.tui.present.edits import writing

        return writing(files.edits(changes, then), then, files.standing, self._home)

    def submit(self) -> None:
        if self._files is None:
            in_background(self, self._read, group="files", alone=True)
        elif not self._writing:
            if (trouble := self.trouble()) is not None:
                self.say(trouble, wrong=True)
            elif not self.changes():
                self.say("Nothing is changed yet.", wrong=True)
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
            self.say(in_one_line(error), wrong=True)
            self._writing = False
            return
        self.written(self._files.loaded)
        said = f"Wrote {' and '.join(short_path(str(path), self._home) for path in paths)}."
        self.app.notify(f"{said} {await self._reload(self._files)}", markup=False, timeout=6)
        self.dismiss(True)

    async def _reload(self, files: Files) -> str:
        """Have the supervisor read the files; what came of it, in words."""
        config = str(files.project_path) if files.project_path else None
        try:
            await self._client.ask(Load(config=config, named=files.named))
        except NoSupervisor:
            return "The supervisor reads it when it starts."
        except CockpitError as error:
            return safe_line(f"The supervisor goes on with what it had: {error.title}.", 300)
        return ""

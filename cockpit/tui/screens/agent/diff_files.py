"""The files of the diff on the agent's screen: go from one to the next, and edit one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual.screen import Screen

from cockpit.core.errors import NotNow
from cockpit.tui.present.diff import FILE_ROLE
from cockpit.tui.screens.requests import show_error, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.context import UIContext
from cockpit.tui.terminal.attach import suspend_while
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.diff import WorktreeDiff

NO_FILE = "The diff has no file with changed lines."


class DiffFiles:
    """Knows which file of a diff the user looks at."""

    def __init__(
        self,
        screen: Screen[Any],
        ui: UIContext,
        view: TextView,
        diff: Callable[[], WorktreeDiff | None],
    ) -> None:
        self._screen = screen
        self._ui = ui
        self._view = view
        self._diff = diff
        self._went_to: tuple[int, int] | None = None
        """The file that a key selected, and the scroll position then: near its end, a text cannot
        be scrolled until a file is at the top."""

    def move(self, step: int) -> None:
        """Scroll to the next file, or with -1 to the previous one."""
        starts = self._view.lines_with(FILE_ROLE)
        if not starts:
            show_reason(self._screen, NO_FILE)
            return
        here = self._here(starts)
        place = min(max(here + step, 0), len(starts) - 1)
        self._view.scroll_to(y=starts[place], animate=False, force=True, immediate=True)
        self._went_to = (place, self._view.scroll_offset.y)

    @property
    def current(self) -> str | None:
        """The path of the file that the user looks at; None above the first file."""
        diff, starts = self._diff(), self._view.lines_with(FILE_ROLE)
        here = self._here(starts)
        if diff is None or here < 0 or here >= len(diff.files):
            return None
        return f"{diff.directory.rstrip('/')}/{diff.files[here].path}"

    def edit(self) -> None:
        """Open the current file, above the first file the first one, in the user's editor."""
        if self.current is None:
            self.move(1)
        if (path := self.current) is not None:
            in_background(self._screen, partial(self._edit, Path(path)), group="edit")

    def _here(self, starts: list[int]) -> int:
        top = self._view.scroll_offset.y
        if self._went_to is not None and self._went_to[1] == top and self._went_to[0] < len(starts):
            return self._went_to[0]
        return sum(start <= top for start in starts) - 1

    async def _edit(self, path: Path) -> None:
        diff = self._diff()
        try:
            if diff is None or not _is_inside(path, Path(diff.directory)):
                raise NotNow(
                    "This file cannot be edited from here",
                    "It was removed, is no regular file, or is outside the worktree.",
                    "Go to another file, or open this one in a terminal.",
                )
            await suspend_while(self._screen.app, lambda: self._ui.edit(path))
        except Exception as error:  # noqa: BLE001 (every error is shown here)
            show_error(self._screen, error)


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is a regular file in the folder, also after following links."""
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())

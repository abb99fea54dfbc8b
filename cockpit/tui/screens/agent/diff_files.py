"""The diff section of the agent's screen: the list of files beside or above the text.

The user can go from file to file, and open the current file in an editor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Container

from cockpit.core.errors import NotNow
from cockpit.tui.present import syntax
from cockpit.tui.present.cached_lines import READING, CachedLines, RenderedLines
from cockpit.tui.present.diff import FILE_ROLE, GROUNDS, diff_lines
from cockpit.tui.present.diff_list import ListedFile, file_spans, listed
from cockpit.tui.present.span import Span
from cockpit.tui.screens.requests import show_error, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.context import UIContext
from cockpit.tui.terminal.attach import suspend_while
from cockpit.tui.widgets.picker import Picker
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.diff import WorktreeDiff

NO_FILE = "No file to open: the diff is empty or not loaded."
AT_ONCE = 20_000
"""A diff with more characters than this is rendered in a thread."""
BESIDE = 96
"""Minimum columns of the section for a list beside the text."""


class _Drawn(NamedTuple):
    diff: WorktreeDiff
    colours: syntax.Colours


class DiffFiles(Container):
    """Shows a diff, and tracks the current file: the selected one, or the one scrolled to."""

    def __init__(
        self, ui: UIContext, diff: Callable[[], WorktreeDiff | None], why: Callable[[], str]
    ) -> None:
        """`why` returns why the diff cannot be read; empty while the diff is loading."""
        super().__init__(id="agent-diff")
        self._ui = ui
        self._diff = diff
        self._short = CachedLines[_Drawn](
            lambda drawn, width, _: diff_lines(drawn.diff, width, drawn.colours), why
        )
        self.list = Picker(self._say, empty="", id="agent-diff-files")
        self.text = TextView(self._lines, id="agent-diff-text", grounds=GROUNDS)
        self._drawn: _Drawn | None = None
        self._long: tuple[_Drawn, int] | None = None
        """The long diff that is being rendered or was rendered last, and the width."""
        self._long_lines: RenderedLines = READING
        self._files: list[ListedFile] = []
        self._went_to: tuple[int, int] | None = None
        """The index of the selected file, and the scroll position after the selection. Near the end
        of the text, a file cannot be scrolled to the top, so the position alone does not identify
        the file."""

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.text

    def on_mount(self) -> None:
        self.watch(self.text, "scroll_y", self._follow, init=False)

    def on_resize(self) -> None:
        self.set_class(self.size.width >= BESIDE, "-beside")

    def show(self) -> None:
        """Draw the current diff; the colours are added later."""
        diff = self._diff()
        if diff is None:
            self._drawn = None
        elif self._drawn is None or self._drawn.diff is not diff:
            self._drawn, self._went_to, self._files = _Drawn(diff, {}), None, listed(diff)
            self.set_class(bool(self._files), "-listed")
            self.list.show([str(place) for place in range(len(self._files))])
            in_background(self, partial(self._colour, diff), group="syntax", exclusive=True)
        self.text.show()
        self._follow()

    def _lines(self, width: int, height: int) -> RenderedLines:
        """Return the lines of the diff.

        A long diff is rendered in a thread. Until the thread has finished, returns the previous
        rendering of this diff, or `READING` if there is none.
        """
        drawn = self._drawn
        if drawn is None or len(drawn.diff.text) <= AT_ONCE:
            return self._short(drawn, width, height)
        if self._long is None or self._long[0].diff is not drawn.diff:
            self._long_lines = READING
        if self._long is None or self._long[0] is not drawn or self._long[1] != width:
            self._long = (drawn, width)
            in_background(self, partial(self._fold, drawn, width), group="fold", exclusive=True)
        return self._long_lines

    async def _fold(self, drawn: _Drawn, width: int) -> None:
        lines = await asyncio.to_thread(diff_lines, drawn.diff, width, drawn.colours)
        if self._long is not None and self._long[0] is drawn and self._long[1] == width:
            self._long_lines = lines
            self.text.show()

    async def _colour(self, diff: WorktreeDiff) -> None:
        colours = await asyncio.to_thread(syntax.colours, diff.text)
        if self._drawn is not None and self._drawn.diff is diff:
            self._drawn = _Drawn(diff, colours)
            self.text.show()

    def _say(self, key: str, width: int) -> list[Span]:
        return file_spans(self._files[int(key)], width)

    def move(self, step: int) -> None:
        """Go to the next file, or with -1 to the previous one."""
        if not self._files:
            show_reason(self.screen, NO_FILE)
            return
        self._go(min(max(self._here() + step, 0), len(self._files) - 1))

    @property
    def has_files(self) -> bool:
        """Whether the diff has changed or new files; False while it is not loaded."""
        diff = self._diff()
        return diff is not None and bool(diff.files or diff.untracked)

    @property
    def current(self) -> str | None:
        """The absolute path of the current file; None if the diff is empty or not loaded."""
        diff = self._diff()
        if diff is None or not self._files:
            return None
        return f"{diff.directory.rstrip('/')}/{self._files[self._here()].path}"

    def edit(self) -> None:
        """Open the current file in the user's editor."""
        if (path := self.current) is None:
            show_reason(self.screen, NO_FILE)
        else:
            in_background(self, partial(self._edit, Path(path)), group="edit")

    def _go(self, place: int) -> None:
        """Select a file and scroll to its text; a new file has no text."""
        starts = self.text.lines_with(FILE_ROLE)
        if place < len(starts):
            # Above the first file, show the summary too.
            top = starts[place] if place else 0
            self.text.scroll_to(y=top, animate=False, force=True, immediate=True)
        self._went_to = (place, self.text.scroll_offset.y)
        self.list.select(str(place))

    def _here(self) -> int:
        top = self.text.scroll_offset.y
        if self._went_to is not None and self._went_to[1] == top:
            return min(self._went_to[0], max(0, len(self._files) - 1))
        starts = self.text.lines_with(FILE_ROLE)
        return min(max(0, sum(start <= top for start in starts) - 1), max(0, len(self._files) - 1))

    def _follow(self) -> None:
        """Select the file to which the text was scrolled."""
        self.list.select(str(self._here()))

    @on(Picker.Moved)
    @on(Picker.Picked)
    def _selected(self, message: Picker.Moved | Picker.Picked) -> None:
        message.stop()
        if self.list.selected is not None and int(self.list.selected) != self._here():
            self._go(int(self.list.selected))

    async def _edit(self, path: Path) -> None:
        diff = self._diff()
        try:
            if diff is None or not _is_inside(path, Path(diff.directory)):
                raise NotNow(
                    "This file cannot be edited from here",
                    "It was removed, is not a regular file, or is outside the worktree.",
                    "Go to another file, or open this file in a terminal.",
                )
            await suspend_while(self.app, lambda: self._ui.edit(path))
        except Exception as error:  # noqa: BLE001 (every error is shown here)
            show_error(self.screen, error)


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path, with symlinks resolved, is a regular file inside the folder."""
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())

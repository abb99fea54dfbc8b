"""How the fleet's screen is divided between the list and the pane, at any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.tui.remembered import Memory, View

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet import FleetScreen

WIDE = 180
"""Columns from which the pane stands beside the list by itself."""
BESIDE = 110
"""Columns below which it never does: neither could be read."""
LOW = 14
"""Lines below which the list has the screen to itself. A terminal of 15 lines gives us 14."""
PACKED = 20
"""Lines below which the list comes first: what is left for the pane may be too little for one."""
PANE_LEAST = 5
"""Lines that are worth to be called a pane."""
USUAL = View()
AROUND_PANE = 3
"""Lines of the rule above the pane, and of why the agent waits."""
STEP = 5
LEAST, MOST = 15, 85
"""Per cent."""


class Division:
    """The list has what it needs, up to its share where the pane stands below it."""

    def __init__(self, screen: FleetScreen, memory: Memory) -> None:
        self._screen = screen
        self._memory = memory

    @property
    def is_beside(self) -> bool:
        width = self._screen.app.size.width
        wanted = self._memory.view.beside
        return width >= BESIDE if wanted else (wanted is None and width >= WIDE)

    def arrange(self) -> None:
        """Lay the screen out for its size; twice is the same as once."""
        screen, size = self._screen, self._screen.app.size
        beside = self.is_beside
        screen.set_class(beside, "-wide")
        low = size.height < LOW and not beside and bool(screen.model.agents)
        screen.set_class(low, "-cramped")
        screen.set_class(not low and self._is_packed, "-packed")
        height = max(0, size.height - 2)
        if beside:
            screen.fleet.styles.max_height = "100%"
            screen.left.styles.width = f"{self._memory.view.list_width}%"
        else:
            screen.fleet.styles.max_height = max(3, self._lines_of_list(height))
            screen.left.styles.width = "100%"
        screen.fleet.give(height if beside else 0)
        screen.look_where_it_shows()

    @property
    def _is_packed(self) -> bool:
        """The list has need of what would be left for the pane, which the pilot did not ask for."""
        height, view = self._screen.app.size.height, self._memory.view
        if self.is_beside or height >= PACKED or view.list_height < USUAL.list_height:
            return False
        return self._screen.fleet.least + AROUND_PANE + PANE_LEAST > height - 2

    def _lines_of_list(self, height: int) -> int:
        """The most that the list may have, where the pane stands below it."""
        if self._screen.has_class("-cramped"):
            return height
        if self._screen.has_class("-packed"):
            return height - 1 - max(1, self._screen.reason_lines)
        return max(4, height * self._memory.view.list_height // 100)

    def turn(self) -> str | None:
        """Put the pane beside the list, or below it again; why not, if it cannot be."""
        width = self._screen.app.size.width
        if not self.is_beside and width < BESIDE:
            return f"The pane needs {BESIDE} columns to stand beside the list; there are {width}."
        self._memory.keep(beside=not self.is_beside)
        self.arrange()
        return None

    def give_pane(self, steps: int) -> str | None:
        """Make the pane larger, or smaller with negative steps; why not, if it cannot be."""
        if self._screen.has_class("-cramped"):
            return "There is no room for a pane on so low a screen."
        view = self._memory.view
        if self.is_beside:
            return self._set("list_width", view.list_width - steps * STEP)
        fleet = self._screen.fleet
        if steps < 0 and fleet.virtual_size.height <= fleet.size.height:
            return "The list shows every agent already."
        shown = fleet.size.height * 100 // max(1, self._screen.app.size.height - 2)
        start = min(view.list_height, max(shown, LEAST + STEP)) if steps > 0 else view.list_height
        return self._set("list_height", start - steps * STEP)

    def drag_to(self, line: int, column: int, *, done: bool) -> None:
        """The rule of the pane is drawn to this line of the screen, or beside the list to this
        column, and let go there.
        """
        size = self._screen.app.size
        if self.is_beside:
            self._memory.change(list_width=_share(column - 1, size.width))
        else:
            self._memory.change(list_height=_share(line - 1, size.height - 2))
        self.arrange()
        if done:
            self._memory.keep()

    def _set(self, name: str, share: int) -> str | None:
        if not LEAST <= share <= MOST:
            return "That is as far as it goes."
        self._memory.keep(**{name: share})
        self.arrange()
        return None


def _share(cells: int, of: int) -> int:
    return min(MOST, max(LEAST, round(cells * 100 / max(1, of))))

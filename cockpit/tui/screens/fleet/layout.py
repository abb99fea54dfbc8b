"""Divide the agents' screen between the list and the pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.tui.screens import lazy
from cockpit.tui.screens.frames import has_frames
from cockpit.tui.state.remembered import View, ViewMemory

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.screen import FleetScreen

WIDE = 180
"""Minimum columns of a terminal that shows the pane beside the list by default."""
BESIDE = 110
"""Minimum columns for the pane beside the list: with fewer, list and pane would be too narrow."""
LOW = 14
"""Minimum lines of a terminal that shows the pane below the list."""
PACKED = 20
"""Terminal height below which the list replaces the pane, if the list needs the pane's lines."""
PANELS = 14
"""Minimum free lines below a list for the panels of the context and the events."""
PANE_LEAST = 5
"""Minimum lines of a pane."""
USUAL = View()
AROUND_PANE = 3
"""Lines for the name above the pane and for the reason why the agent waits."""
STEP = 5
LEAST, MOST = 15, 85
"""Minimum and maximum share of the screen for the list, in per cent."""


class PaneSplit:
    """Sizes the list and the pane.

    If the pane is below the list, the list gets the lines it needs, up to its share of the screen.
    """

    def __init__(self, screen: FleetScreen, memory: ViewMemory) -> None:
        self._screen = screen
        self._memory = memory

    @property
    def has_panels(self) -> bool:
        """Whether the panels for the selected agent's context and for events are shown."""
        return self._screen.has_class("-roomy")

    @property
    def is_beside(self) -> bool:
        width = self._screen.app.size.width
        wanted = self._memory.view.beside
        return width >= BESIDE if wanted else (wanted is None and width >= WIDE)

    def arrange(self) -> None:
        """Lay out the screen for its size. Idempotent."""
        screen, size = self._screen, self._screen.app.size
        beside = self.is_beside
        low = size.height < LOW and not beside and bool(screen.model.agents)
        framed = has_frames(screen)
        # All classes in one call: each change computes the styles of the whole screen.
        screen.update_classes(
            {
                "-wide": beside,
                "-cramped": low,
                "-packed": not low and self._is_packed,
                "-framed": framed,
            }
        )
        height = max(0, size.height - 2)
        list_lines = height if beside else max(3, self._lines_of_list(height))
        if beside:
            screen.fleet.styles.max_height = "100%"
            screen.left.styles.width = f"{self._memory.view.list_width}%"
        else:
            screen.fleet.styles.max_height = list_lines
            screen.left.styles.width = "100%"
        screen.fleet.give(list_lines, framed=framed)
        free = height - screen.fleet.height
        roomy = beside and framed and free >= PANELS and bool(screen.model.agents)
        roomy = roomy and lazy.is_loaded()
        if roomy != self.has_panels:
            screen.set_class(roomy, "-roomy")
            screen.show_events()
        screen.follow_context()
        screen.follow_visible_pane()

    @property
    def _is_packed(self) -> bool:
        """Whether the list needs the pane's lines and the user has not enlarged the pane."""
        height, view = self._screen.app.size.height, self._memory.view
        if self.is_beside or height >= PACKED or view.list_height < USUAL.list_height:
            return False
        return self._screen.fleet.least + AROUND_PANE + PANE_LEAST > height - 2

    def _lines_of_list(self, height: int) -> int:
        """Return the maximum lines of the list if the pane is below it."""
        if self._screen.has_class("-cramped"):
            return height
        if self._screen.has_class("-packed"):
            return height - 1 - max(1, self._screen.reason_lines)
        return max(4, height * self._memory.view.list_height // 100)

    def turn(self) -> str | None:
        """Move the pane beside or below the list; if that is impossible, return why."""
        width = self._screen.app.size.width
        if not self.is_beside and width < BESIDE:
            return f"The pane needs {BESIDE} columns beside the list; the terminal has {width}."
        self._memory.keep(beside=not self.is_beside)
        self.arrange()
        return None

    def give_pane(self, steps: int) -> str | None:
        """Make the pane larger, or with negative steps smaller; if impossible, return why."""
        if self._screen.has_class("-cramped"):
            return "The terminal is too short for a pane."
        view = self._memory.view
        if self.is_beside:
            return self._set("list_width", view.list_width - steps * STEP)
        fleet = self._screen.fleet
        if steps < 0 and fleet.virtual_size.height <= fleet.size.height:
            return "The pane stays this size: the list already shows every agent."
        shown = fleet.size.height * 100 // max(1, self._screen.app.size.height - 2)
        start = min(view.list_height, max(shown, LEAST + STEP)) if steps > 0 else view.list_height
        return self._set("list_height", start - steps * STEP)

    def drag_to(self, line: int, column: int, *, done: bool) -> None:
        """Move the divider to this line, or to this column if the pane is beside the list.

        `done` is True once the mouse button is released.
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
            size = "larger" if share < LEAST else "smaller"
            return f"The pane cannot be made {size}."
        self._memory.keep(**{name: share})
        self.arrange()
        return None


def _share(cells: int, of: int) -> int:
    return min(MOST, max(LEAST, round(cells * 100 / max(1, of))))

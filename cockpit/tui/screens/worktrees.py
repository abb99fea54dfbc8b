"""The worktrees of all agents' repositories, to be read; removing one is the command line's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.plurals import counted
from cockpit.tui.actions import Context
from cockpit.tui.background import in_background
from cockpit.tui.bindings import bindings
from cockpit.tui.model import Model
from cockpit.tui.present.span import Span, fit
from cockpit.tui.present.worktrees import drawn
from cockpit.tui.screens.errands import tell
from cockpit.tui.screens.place import Page
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.passage import Passage
from cockpit.wire.worktrees import WorktreeStatus

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings


class WorktreesScreen(Page):
    """Asked for when it opens and by a key; nothing of it changes by itself."""

    CONTEXT: ClassVar[Context] = "worktrees"
    BINDINGS: ClassVar[list[BindingType]] = bindings("worktrees")
    AUTO_FOCUS = "#worktrees"

    def __init__(self, model: Model, client: Client, around: Surroundings) -> None:
        super().__init__(model, client, around)
        self._trees: list[WorktreeStatus] | None = None
        self._title = OneLine(self._count, id="worktrees-title")
        self.text = self.listing = Passage(self._say, id="worktrees")
        self.listing.can_focus = True

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.listing
        yield self._keys

    def on_mount(self) -> None:
        self._again()

    def _again(self) -> None:
        in_background(self, self._look, group="load", alone=True)

    def _count(self, width: int) -> list[Span]:
        title = " Worktrees "
        many = "" if self._trees is None else counted(len(self._trees), "worktree")
        return [Span(title, "brand"), Span(fit(f" {many}", max(0, width - len(title))), "muted")]

    def _say(self, width: int, _height: int) -> list[list[Span]]:
        if self._trees is None:
            return [[Span("  looking …", "muted")]]
        return drawn(self._trees, datetime.now(UTC), width, self.around.home)

    async def _look(self) -> None:
        try:
            trees = await self.client.worktrees()
        except CockpitError as error:
            tell(self, error)
            return
        if self.is_attached:
            self._trees = trees
            self._title.show()
            self.listing.show()

"""List and remove the worktrees of all agents' repositories, on every host."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import far_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line, safe_text
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, broken, fit
from cockpit.tui.present.worktree_table import detail, heading, row, table
from cockpit.tui.present.worktrees import Keys, Sizes, back_again, name_of, question, refusal
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.tui.screens.confirm import ConfirmScreen
from cockpit.tui.screens.removals import Removals
from cockpit.tui.screens.requests import show_error, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Change, Model
from cockpit.tui.widgets.blocks import Blocks
from cockpit.tui.widgets.line import OneLine
from cockpit.wire.worktrees import WorktreeStatus

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

EDGE = 2
"""Cells of a row before and after its columns."""
BEAT = 1.0
"""Seconds between two updates of the elapsed time of a removal."""
LONG = 30.0
"""Seconds for which a message about a removal stays: the user may want to note the git ref."""


class WorktreesScreen(BaseScreen):
    """The list of worktrees.

    Loaded when the screen opens, on request, when a removal begins or ends, and after a lost
    connection.
    """

    CONTEXT: ClassVar[Context] = "worktrees"
    BINDINGS: ClassVar[list[BindingType]] = bindings("worktrees")
    AUTO_FOCUS = "#worktrees"

    def __init__(self, model: Model, client: Client, ui: UIContext, removals: Removals) -> None:
        super().__init__(model, client, ui)
        self._removals = removals
        self._trees: list[WorktreeStatus] | None = None
        self._sizes = Sizes.NOT_REQUESTED
        self._newest = next(iter(removals.done), None)
        """The newest completed removal at the last change of `removals`; None if there was none."""
        self._has_new_result = False
        """Whether to scroll down to the result of a removal when the list is loaded next."""
        self._title = OneLine(self._count, id="worktrees-title")
        self._columns = OneLine(self._say_columns, id="worktrees-columns")
        self.listing = Blocks(self._say, self._say_after, id="worktrees")
        self.listing.is_table = True

    @property
    def has_items(self) -> bool:
        return self._trees is None or bool(self._trees)

    @property
    def chosen(self) -> WorktreeStatus | None:
        """The selected worktree."""
        return self._trees[self.listing.selected] if self._trees else None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._columns
        yield self.listing
        yield from self.footer()

    def on_mount(self) -> None:
        self._removals.listen(self._removal_changed)
        self._stop_listening = self.model.listen(self._heard)
        self._clock = self.set_interval(BEAT, self.listing.show, pause=not self._removals.begun)
        self._again()

    def on_unmount(self) -> None:
        self._removals.listen(lambda: None)
        self._stop_listening()

    def reconnected(self) -> None:
        self._look_again()

    def handlers(self) -> Handlers:
        return {
            "worktrees.down": self._down,
            "worktrees.up": self._up,
            "worktrees.page-down": self._page_down,
            "worktrees.page-up": self._page_up,
            "worktrees.first": self._first,
            "worktrees.last": self._last,
            "worktrees.remove": self._remove,
            "worktrees.salvage": self._salvage,
            "worktrees.again": self._again,
            "worktrees.help": self._help,
            "worktrees.back": self._back,
        }

    def _again(self) -> None:
        self._removals.forget_refusals()
        self._look_again()

    def _look_again(self) -> None:
        in_background(self, self._look, group="load", exclusive=True)

    def _down(self) -> None:
        self.listing.move(1)

    def _up(self) -> None:
        self.listing.move(-1)

    def _page_down(self) -> None:
        self._page(1)

    def _page_up(self) -> None:
        self._page(-1)

    def _page(self, direction: int) -> None:
        step = direction * max(1, self.listing.size.height - 2)
        self.listing.scroll_relative(y=step, animate=False, force=True)

    def _first(self) -> None:
        self.listing.move(-10_000)

    def _last(self) -> None:
        self.listing.move(10_000)

    # Removing

    def _remove(self) -> None:
        self._ask_for(salvage=False)

    def _salvage(self) -> None:
        self._ask_for(salvage=True)

    def _ask_for(self, *, salvage: bool) -> None:
        tree = self.chosen
        if tree is None:
            looking = self._trees is None
            show_reason(
                self, "The list is still loading." if looking else "There are no worktrees."
            )
        elif name_of(tree) in self._removals.begun:
            show_reason(self, "The worktree is already being removed.")
        elif why := refusal(tree, self._key("salvage"), salvage=salvage):
            show_reason(self, safe_line(why, 300))
        else:
            self._confirm(tree, salvage=salvage)

    def _confirm(self, tree: WorktreeStatus, *, salvage: bool) -> None:
        def decided(yes: bool | None) -> None:
            if yes:
                # A task of the application, so that it continues when the screen is left.
                task = partial(self._have_removed, tree, salvage=salvage)
                in_background(self.app, task, group="removals")

        self.app.push_screen(
            ConfirmScreen(f"Remove {self._shown_name(tree)}?", question(tree), "remove it"), decided
        )

    def _shown_name(self, tree: WorktreeStatus) -> str:
        return name_of(tree) if tree.host else short_path(tree.directory, self.ui.home)

    async def _have_removed(self, tree: WorktreeStatus, *, salvage: bool) -> None:
        app = self.app
        try:
            message = await self._removals.remove(tree, datetime.now(UTC), salvage=salvage)
        except CockpitError as error:
            if not self.is_current:
                text = "\n".join(filter(None, (error.detail, error.hint)))
                title = safe_line(error.title, 200)
                app.notify(safe_text(text, 600), title=title, severity="error", markup=False)
            return
        if message and not self.is_current:
            app.notify(safe_line(message, 600), markup=False, timeout=LONG)

    def _removal_changed(self) -> None:
        if not self.is_attached:
            return
        newest = next(iter(self._removals.done), None)
        if newest is not self._newest:
            self._newest, self._has_new_result = newest, True
        if self._removals.begun:
            self._clock.resume()
        else:
            self._clock.pause()
        self.listing.show()
        self._look_again()

    # Drawing

    def _heard(self, change: Change, _name: str | None) -> None:
        if change is Change.CONNECTION:
            self.listing.show()

    def _key(self, action: str) -> str:
        return shown_key(BY_ID[f"worktrees.{action}"], self.ui.keys)

    def _count(self, width: int) -> list[Span]:
        title = " Worktrees "
        many = "" if self._trees is None else counted(len(self._trees), "worktree")
        return [Span(title, "brand"), Span(fit(f" {many}", max(0, width - len(title))), "muted")]

    def _say(self, place: int, width: int) -> list[list[Span]]:
        assert self._trees is not None
        tree = self._trees[place]
        now, home = datetime.now(UTC), self.ui.home
        shown = table(self._trees, now, width, home, self._sizes)
        progress = self._progress_of(tree)
        lines = [row(tree, shown, now, home)]
        if place == self.listing.selected or progress:
            stop = shown_key(BY_ID["stop"], self.ui.keys)
            keys = Keys(self._key("remove"), self._key("salvage"), stop)
            lines += detail(tree, shown, now, width, progress, keys, home)
        return lines

    def _say_columns(self, width: int) -> list[Span]:
        """Return the titles of the columns, indented like the rows by the selection mark."""
        if not self._trees:
            return []
        now = datetime.now(UTC)
        shown = table(self._trees, now, width - EDGE, self.ui.home, self._sizes)
        return [Span(" "), *heading(shown, width - EDGE)]

    def _progress_of(self, tree: WorktreeStatus) -> list[Span]:
        name = name_of(tree)
        if (since := self._removals.begun.get(name)) is not None:
            seconds = int((datetime.now(UTC) - since).total_seconds())
            return [Span(f"◌ removing for {seconds} s: save, verify, delete", "accent")]
        if (error := self._removals.refused.get(name)) is None:
            return []
        lines = [error.title, *error.detail.splitlines(), error.hint]
        return [Span(safe_line(line, 400), "error" if not at else "muted")
                for at, line in enumerate(lines) if line]  # fmt: skip

    def _say_after(self, width: int) -> list[list[Span]]:
        """Return the lines below the list: removed worktrees, and hosts that do not answer."""
        lines: list[Span] = []
        main = self.model.main
        if self._trees is None:
            lines.append(Span("  loading…", "muted"))
        elif not self._trees:
            on_host = f" --host {safe_line(main.host, 32)}" if main.is_remote else ""
            step = f"To start an agent in its own: cockpit start NAME --worktree{on_host}"
            lines.append(Span(f"  No worktrees. {step}", "muted"))
        for removed in self._removals.done:
            lines.append(Span(f"  ✓ removed {safe_line(name_of(removed.tree), 400)}", "success"))
            if removed.reference:
                lines.append(Span(f"    saved as {safe_line(removed.reference, 200)}", ""))
            tree = removed.tree
            host = tree.host or (main.host if main.is_remote else None)
            there = f"on {safe_line(host, 32)}, " if host else ""
            home = "" if host else self.ui.home
            text = f"    to restore it, {there}in {short_path(tree.repository, home)}:"
            lines.append(Span(text, "muted"))
            back = back_again(tree, removed.reference, width - 6)
            lines += [Span(f"      {command}", "muted") for command in back]
        for part in self.model.lost:
            host = safe_line(part.host, 32)
            lines.append(Span(f"  {host} does not answer: its worktrees are not listed", "muted"))
        return [[Span(piece, line.role)] for line in lines for piece in broken(line.text, width)]

    async def _look(self) -> None:
        try:
            trees = await self.client.worktrees()
        except CockpitError as error:
            show_error(self, error)
            return
        self._show(trees, Sizes.MEASURING if trees else Sizes.NOT_REQUESTED)
        if not trees:
            return
        measured: dict[str, WorktreeStatus] = {}
        with suppress(CockpitError):  # the sizes stay unknown; the list is shown without sizes
            answer = await self.client.worktrees(sizes=True)
            measured = {name_of(tree): tree for tree in answer}
        self._show([measured.get(name_of(tree), tree) for tree in trees], Sizes.MEASURED)

    def _place_of_agent(self, trees: list[WorktreeStatus]) -> int:
        """Return the index of the selected agent's worktree; 0 if the agent has none."""
        agents = [far_name(tree.host, tree.agent or "") if tree.host else tree.agent
                  for tree in trees]  # fmt: skip
        name = self.model.selected
        return agents.index(name) if name in agents else 0

    def _show(self, trees: list[WorktreeStatus], sizes: Sizes) -> None:
        if self.is_attached:
            if self._trees is None:
                self.listing.selected = self._place_of_agent(trees)
            self._trees, self._sizes = trees, sizes
            self._title.show()
            self._columns.show()
            self._keys.show()
            self.listing.show([name_of(tree) for tree in trees])
            if self._has_new_result:
                # The commands that restore the worktree are below the list, perhaps out of sight.
                self._has_new_result = sizes is Sizes.MEASURING
                self.call_after_refresh(self.listing.scroll_end, animate=False, force=True)

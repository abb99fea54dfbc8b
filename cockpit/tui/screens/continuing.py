"""A new agent from a document: its name and its place, with what is wrong said as it is typed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.core.errors import BadUsage
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.screens.form import Form
from cockpit.tui.widgets.field import Field
from cockpit.wire.verbs import Continue


class ContinueScreen(Form[Continue]):
    """Dismisses with what is to be asked for, or with nothing."""

    def __init__(
        self, document: str, whose: str, first: str, taken: Iterable[str], directory: Path
    ) -> None:
        """`taken` are the names of those who run; a relative place begins at `directory`."""
        super().__init__()
        self._document = document
        self._title = f"Continue from {safe_line(whose, 32)}'s document"
        self._taken = frozenset(taken)
        self._directory = directory
        self.named = Field(first, placeholder="name", id="name")
        self.where = Field(placeholder="where the document was left", id="where")
        self._verdict = Static("", classes="dialog--words", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(self._title, classes="dialog--title", markup=False)
            yield Static("name of the new agent", classes="dialog--label")
            yield self.named
            yield self._verdict
            yield Static("directory", classes="dialog--label")
            yield self.where
            yield Static("Enter start  Tab next  Ctrl-G back", classes="dialog--keys")

    def on_mount(self) -> None:
        super().on_mount()
        self._judge()

    def first_field(self) -> Widget:
        return self.named

    def fields(self) -> list[Widget]:
        return [self.named, self.where]

    @on(Input.Changed)
    def _judge(self) -> None:
        wrong = self._wrong()
        self._verdict.set_class(bool(wrong), "-wrong")
        self._verdict.update(safe_line(wrong or "starts from this document", 300))

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def submit(self) -> None:
        if self._wrong():
            self._judge()
            return
        said = self.where.value.strip()
        place = str((self._directory / Path(said).expanduser()).absolute()) if said else None
        order = Continue(document=self._document, name=self.named.value, directory=place)
        self.dismiss(order)

    def _wrong(self) -> str:
        name = self.named.value
        if not name:
            return "A name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(name)
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        return f"{name} is running already." if name in self._taken else ""

"""The form for starting a new agent from a document: name and directory.

The name is checked while the user types.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.core.errors import BadUsage
from cockpit.core.far_names import LOCAL, LONGEST_NAME, far_name, host_and_name
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.present.paths import far_home_refusal
from cockpit.tui.screens.form import Form
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field
from cockpit.wire.verbs import Continue


class ContinueScreen(Form[Continue]):
    """The form for starting a new agent from a handoff document.

    Its result is a `Continue` request; None if cancelled.
    """

    def __init__(
        self,
        document: str,
        whose: str,
        first: str,
        taken: Iterable[str],
        directory: Path,
        main: str = LOCAL,
    ) -> None:
        """`whose` is the agent of the document, `first` the suggested name; both include the host.

        `taken` are the names of running agents. The new agent runs on the machine that has the
        document; `main` is the machine of agents whose names have no host. Relative paths start at
        `directory`; on another machine, at `/`.
        """
        super().__init__()
        self._host = host_and_name(whose)[0]
        self._far_host = self._host or (main if main != LOCAL else None)
        self._document = document
        self._title = f"Continue from {safe_line(whose, LONGEST_NAME)}'s document"
        self._taken = frozenset(taken)
        self._directory = Path("/") if self._far_host else directory
        self.named = Field(host_and_name(first)[1], placeholder="name", id="name")
        self.where = Field(placeholder="directory of the document", id="where")
        self.status_line = Static("", classes="dialog--words", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(self._title, classes="dialog--title", markup=False)
            yield Static("name of the new agent", classes="dialog--label")
            yield self.named
            yield self.status_line
            yield Static("directory", classes="dialog--label")
            yield self.where
            yield DialogKeys("Enter start  Tab next  Esc back  F1 help")

    def on_mount(self) -> None:
        super().on_mount()
        self._judge()

    def first_field(self) -> Widget:
        return self.named

    def fields(self) -> list[Widget]:
        return [self.named, self.where]

    @on(Input.Changed)
    def _judge(self) -> None:
        wrong = self._problem()
        self.show_status(wrong or "The agent starts from this document.", wrong=bool(wrong))

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def submit(self) -> None:
        if self._problem():
            self._judge()
            return
        order = Continue(document=self._document, name=self._called, directory=self._place())
        self.dismiss(order)

    @property
    def _called(self) -> str:
        """The new agent's name, with the host's name on a remote host."""
        return far_name(self._host, self.named.value) if self._host else self.named.value

    def _place(self) -> str | None:
        typed = self.where.value.strip()
        if not typed:
            return None
        # On another host, `_problem` refuses a `~`.
        written = Path(typed) if self._far_host else Path(typed).expanduser()
        return str((self._directory / written).absolute())

    def _problem(self) -> str:
        place = far_home_refusal(self.where.value.strip(), self._far_host)
        return self._problem_of_name() or place or ""

    def _problem_of_name(self) -> str:
        name = self.named.value
        if not name:
            return "Enter a name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(name)
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        return f"{name} is already running." if self._called in self._taken else ""

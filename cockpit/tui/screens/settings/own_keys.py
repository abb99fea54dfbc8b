"""The form for the user's own keys: an action and its keys, checked for conflicts while typing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.client.client import Client
from cockpit.config.problems import nearest
from cockpit.tui.keys.action import Action
from cockpit.tui.keys.actions import ACTIONS, BY_ID, key_label, keys_of
from cockpit.tui.present.span import Span, fit
from cockpit.tui.present.words import DASH
from cockpit.tui.screens.form import row
from cockpit.tui.screens.settings.change_form import ChangeForm
from cockpit.tui.state.settings_reload import SettingsRead
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from cockpit.config.files import Files
    from cockpit.config.loaded import Loaded


class OwnKeysScreen(ChangeForm):
    """The form for the keys. A list shows the actions that match the first field."""

    EXPLAINED = (
        ("action", "Type words to find an action, then enter its id."),
        (
            "keys",
            'Such as "x", "?", "ctrl+l" or "pageup", separated by commas; "-" restores the '
            'default, "[]" removes all.',
        ),
    )

    def __init__(
        self,
        client: Client,
        read_files: Callable[[], Files],
        home: str,
        keys: dict[str, str],
    ) -> None:
        super().__init__(client, read_files, home)
        self._keys = keys
        ids = [action.id for action in ACTIONS]
        self.action = Field(
            placeholder="search, or an action id", suggester=SuggestFromList(ids), id="action"
        )
        self.keys = Field(placeholder="X, ctrl+k; - default; [] none", id="keys-of")
        self.table = Lines(id="preview")
        self.table.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -form -settings"):
            yield Static("Keys", classes="dialog--title", markup=False)
            yield row("action", self.action)
            yield row("keys", self.keys)
            yield self.table
            yield self.status_line
            yield DialogKeys("Tab next  → complete  Ctrl-S save  Esc back  F1 help")

    def first_field(self) -> Widget:
        return self.action

    def fields(self) -> list[Widget]:
        return [self.action, self.keys]

    def trouble(self) -> str | None:
        wanted = self.action.value.strip()
        if wanted in BY_ID or not self.keys.value.strip():
            return None
        close = nearest(wanted, list(BY_ID))
        hint = f" Did you mean {close}?" if close else ""
        return f"Unknown action id.{hint}"

    def changes(self) -> dict[tuple[str, ...], Any]:
        action, written = self.action.value.strip(), self.keys.value.strip()
        if action not in BY_ID or not written or self._files is None:
            return {}
        value: Any = [] if written == "[]" else written
        return {self._files.key_path(action): None if written == "-" else value}

    def show(self, loaded: Loaded) -> None:
        self._draw(loaded.settings.keys)

    def written(self, loaded: Loaded) -> None:
        self.app.post_message(SettingsRead(loaded))

    @on(Input.Changed)
    def _typed(self) -> None:
        self._draw(self._keys)
        self.judge()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw, self._keys)

    def _draw(self, keys: Any) -> None:
        wanted = self.action.value.lower().split()
        shown = [
            action
            for action in ACTIONS
            if all(word in f"{action.id} {action.sentence}".lower() for word in wanted)
        ]
        self.table.set_lines(
            [
                [
                    Span(f"  {fit(_keys(action, keys), 14)} ", "key"),
                    Span(f"{fit(action.id, 24)} ", "name"),
                    Span(action.sentence, "muted"),
                ]
                for action in shown
            ]
        )


def _keys(action: Action, own: Mapping[str, str]) -> str:
    return " ".join(map(key_label, keys_of(action, own))) or DASH

"""An action of a screen: id, title, help sentence, default keys, and availability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.keys import reasons
from cockpit.tui.state.model import Model

Context = Literal[
    "fleet",
    "review",
    "permission",
    "inbox",
    "history",
    "reading",
    "comparing",
    "worktrees",
    "elsewhere",
    "agent",
    "pane",
]
Handlers = Mapping[str, Callable[[], None]]
"""The functions of a screen's actions, by the action's id."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that the user can run by key, mouse or command palette."""

    id: str
    title: str
    """One to four words, for the key line and the palette."""
    sentence: str
    """A sentence that describes the action, for the help and the key tables."""
    keys: tuple[str, ...]
    """Textual's key names; the first one is shown."""
    context: Context = "fleet"
    check: reasons.WhyNot = reasons.always_available
    """Returns why the action is unavailable now; None if it is available. See `why_not`."""
    shown: bool = False
    """Whether the key line shows the action while the action is available."""
    also: str = ""
    """Other words by which a search in the command palette finds the action."""
    is_destructive: bool = False
    """Whether the action is refused when keys look pasted, because it can affect an agent or leave
    cockpit."""

    def why_not(self, model: Model, screen: Context | None = None) -> str | None:
        """Return why the action is unavailable now; None if it is available.

        The reason names the keys of the action's own screen, or of `screen` if another screen runs
        the action.
        """
        return self.check(model.on(screen or self.context))


def scroll_actions(context: Context) -> tuple[Action, ...]:
    """Return the actions that scroll the long text of a screen with this context."""
    return (
        Action(f"{context}.down", "down", "Scroll down.", ("j", "down"), context),
        Action(f"{context}.up", "up", "Scroll up.", ("k", "up"), context),
        Action(
            f"{context}.page-down",
            "page down",
            "Scroll down a page.",
            ("pagedown", "space"),
            context,
        ),
        Action(f"{context}.page-up", "page up", "Scroll up a page.", ("pageup",), context),
        Action(f"{context}.first", "first", "Go to the beginning.", ("g", "home"), context),
        Action(f"{context}.last", "last", "Go to the end.", ("G", "end"), context),
    )


def help_action(context: Context) -> Action:
    keys = ("question_mark", "f1")
    return Action(f"{context}.help", "help", "Show the keys.", keys, context, shown=True)

"""Leave the screen, after asking if needed."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import ModalScreen

LEAVING = "-leaving"
"""CSS class of the question whether to leave."""
KEEPS_RUNNING = "Agents and supervisor keep running. To open the screen again: cockpit"


def leave(app: App[Any], ends: str, *, ask: bool = False) -> None:
    """End the screen.

    `ends` is a sentence about what ends with the screen, or empty. Asks first if something ends, or
    with `ask`.
    """
    if not ends and not ask:
        app.exit(True)
        return

    from cockpit.tui.screens.confirm import ConfirmScreen

    def decided(yes: bool | None) -> None:
        if yes:
            app.exit(True)

    question = ConfirmScreen("Leave cockpit?", ends or KEEPS_RUNNING, "leave")
    question.add_class(LEAVING)
    app.push_screen(question, decided)


def stay(app: App[Any]) -> None:
    """Close the question whether to leave, if it is open: the terminal that it was asked in may
    have been lost."""
    if isinstance(app.screen, ModalScreen) and app.screen.has_class(LEAVING):
        app.screen.dismiss(False)

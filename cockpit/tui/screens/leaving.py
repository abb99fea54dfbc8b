"""Leave the screen, after asking if needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

KEEPS_RUNNING = "Agents and supervisor keep running. To open the screen again: cockpit"


def leave(app: App[Any], ui: UIContext, *, ask: bool = False) -> None:
    """End the screen. Asks first if something ends with the screen, or with `ask`."""
    if not ui.ends_on_leaving and not ask:
        app.exit(True)
        return

    from cockpit.tui.screens.leave_question import LeaveQuestion

    def decided(yes: bool | None) -> None:
        if yes:
            app.exit(True)

    app.push_screen(LeaveQuestion(ui.ends_on_leaving or KEEPS_RUNNING, ui.attached), decided)

"""Leave the screen; ask the user first if leaving ends anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

from cockpit.core.far_names import LOCAL
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext
    from cockpit.tui.state.model import Model

KEEPS_RUNNING = "Agents and supervisor keep running"


def leave(app: App[Any], ui: UIContext, *, ask: bool = False) -> None:
    """Exit the application. Asks the user first if leaving ends anything else, or with `ask`."""
    if not ui.ends_on_leaving and not ask:
        app.exit(True)
        return

    from cockpit.tui.screens.leave_question import LeaveQuestion

    def decided(yes: bool | None) -> None:
        if yes:
            app.exit(True)

    text = ui.ends_on_leaving or _with_command(KEEPS_RUNNING, ui)
    app.push_screen(LeaveQuestion(text, ui.attached), decided)


def what_keeps_running(model: Model, ui: UIContext) -> str:
    """Return a line for the shell after leaving: how many agents keep running, and a command.

    The command opens the screen again. Empty if everything ends with the screen, or if the main
    supervisor does not respond, because the running agents are then unknown.
    """
    if ui.ends_on_leaving or not model.main.connection.live:
        return ""
    running = sum(
        agent.pid is not None and model.part_of(name).connection.live
        for name, agent in model.agents.items()
    )
    if not running:
        what = "The supervisor keeps running"
    else:
        what = f"{counted(running, 'agent')} {'keeps' if running == 1 else 'keep'} running"
    return _with_command(what, ui)


def _with_command(text: str, ui: UIContext) -> str:
    command = "cockpit" if ui.host == LOCAL else f"cockpit --host {safe_line(ui.host, 100)}"
    return f"{text}. To open the screen again: {command}"

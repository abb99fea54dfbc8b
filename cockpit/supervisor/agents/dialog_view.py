"""Read the dialog that is open in an agent's pane, and compare it with the hook's report."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.cli_events import DialogOpened
from cockpit.core.dialogs import LONGEST_BODY, OpenDialog, agreed
from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import Turn
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.panes import Panes
from cockpit.supervisor.agents.agent import Agent
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus

LONGEST_SHOWN = 4 * LONGEST_BODY
"""Maximum characters of a permission request in an API response. More than `LONGEST_BODY`, because
the marker that replaces a secret can be longer than the secret."""


async def look(agent: Agent, panes: Panes) -> OpenDialog | str:
    """Capture the agent's pane; return the open dialog, or why cockpit cannot answer the dialog.

    Raises `NotNow` if no dialog is open.
    """
    asked, at = open_question(agent)
    if not agent.runtime.capabilities.answers:
        return agent.runtime.capabilities.answers.why  # type: ignore[union-attr]
    assert agent.record.pane is not None
    seen = agent.runtime.open_dialog(await panes.capture(agent.record.pane))
    if open_question(agent) != (asked, at):
        return "the dialog has just changed"
    if seen is None:
        return "cockpit does not recognise the dialog that is open in the pane"
    return agreed(seen, asked, at)


def open_question(agent: Agent) -> tuple[DialogOpened, float]:
    """Return the hook's report of the open dialog, and when it came, in seconds of `Clock.steady`.

    Raises `NotNow` if no dialog is open.
    """
    activity = agent.session_state.activity
    asked = activity.dialog
    if (
        not agent.alive
        or agent.record.pane is None
        or activity.turn is not Turn.DIALOG
        or not asked
    ):
        raise NotNow(
            f"{agent.name} is not asking anything",
            "No permission dialog or question is open in the agent's pane.",
            f"See: cockpit status {agent.name}",
        )
    return asked, activity.asked_at


def to_wire(dialog: OpenDialog | str, redact: Callable[[str], str]) -> DialogStatus:
    """Return the dialog for clients. `redact` removes the secrets that the pane shows."""
    if isinstance(dialog, str):
        return DialogStatus(refusal=dialog)
    seen = dialog.dialog
    return DialogStatus(
        identity=dialog.identity,
        kind=seen.kind,
        title=seen.title,
        tool=safe_line(seen.tool, 60),
        subject=seen.subject,
        question=redact(seen.question),
        notice=seen.notice,
        text=safe_text(redact(dialog.text), LONGEST_SHOWN),
        choices=[
            ChoiceStatus(label=redact(c.label), note=c.note, checked=c.checked, text=c.text)
            for c in seen.choices
        ],
        highlighted=seen.highlighted,
    )

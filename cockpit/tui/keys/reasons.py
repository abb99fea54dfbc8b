"""Checks that return why an action is unavailable now, as a sentence with the next step.

A check returns None if the action is available. Checks read only the screen's model; the supervisor
checks each request again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from cockpit.core.safetext import safe_line
from cockpit.tui.state.last_request import answered_by
from cockpit.tui.state.model import Model, Part
from cockpit.wire.status import AgentStatus

WhyNot = Callable[[Model], str | None]
"""Returns why an action is unavailable, as a sentence for the user; None if it is available."""


SAME_ON = {
    "agent": {"attach": "agent.enter"},
    "permission": {"attach": "permission.attach"},
    "review": {"approve": "review.approve"},
}
"""Maps, for each screen, actions of the list of agents to equivalent actions of that screen."""


def press(model: Model, action: str) -> str:
    """Return the beginning of a sentence that says how to run an action: `Press n`.

    The text names the user's own key, or the command palette for an action without a key. On a
    screen without the action, the text adds where to run it: `Press n in the list of agents`.
    """
    action = SAME_ON.get(model.screen, {}).get(action, action)
    way = press_key(model.key_of, action)
    is_here = model.screen == (action.rpartition(".")[0] or "fleet")
    return way if is_here else f"{way} in the list of agents"


def press_key(key_of: Callable[[str], str], action: str) -> str:
    """Return the beginning of a sentence that says how to run an action, without naming a screen.

    `key_of` returns an action's key; an empty string for an action without a key.
    """
    from cockpit.tui.keys.actions import BY_ID  # avoids a circular import

    title = BY_ID[action].title.capitalize()
    return f"Press {key}" if (key := key_of(action)) else f"Choose \u201c{title}\u201d with Ctrl-P"


def or_press(key_of: Callable[[str], str], action: str) -> str:
    """Return how to run an action, as an alternative in the middle of a sentence: `or Enter`."""
    key, way = key_of(action), press_key(key_of, action)
    return f"or {key}" if key else f"or {way[0].lower()}{way[1:]}"


def always_available(_model: Model) -> str | None:
    return None


def needs_agent(model: Model) -> str | None:
    if model.agent is not None:
        return None
    if not model.selected:
        return "No agent is selected."
    gone = f"{model.selected} is not in the list of agents."
    if model.screen == "fleet":
        return f"{gone} Select another agent."
    return f"{gone} {press(model, f'{model.screen}.back')} to go back."


def needs_supervisor(model: Model) -> str | None:
    """Return why the supervisor on the selected agent's host cannot be used; None if it can."""
    part = model.part
    if part.connection.live:
        return None
    if model.is_joined and part.is_remote:
        return f"{part.host} does not answer: {part.connection.why or 'connecting'}"
    return _why_not_live(part)


def needs_any_supervisor(model: Model) -> str | None:
    return None if model.any_live else _why_not_live(model.main)


def _why_not_live(part: Part) -> str:
    if part.connection.lost_at is None and not part.connection.incompatible:
        where = (
            f"the supervisor on {safe_line(part.host, 32)}" if part.is_remote else "the supervisor"
        )
        return f"cockpit is still connecting to {where}. Try again in a moment."
    return part.unreachable


def needs_running(model: Model) -> str | None:
    agent = model.agent
    if agent is None:
        return needs_agent(model)
    if agent.pane is None and agent.pid is not None:
        stop = press(model, "stop")
        return f"{agent.name} is running without a pane. {stop} to stop it, then start it again."
    if agent.pane is None:
        return f"{agent.name} has no pane ({agent.state}). {press(model, 'start')} to start it."
    return None


def has_ended(agent: AgentStatus) -> bool:
    """Return whether the agent has neither a process nor a handoff that could start a process.

    The agent's pane may still show the last output.
    """
    return agent.pid is None and agent.handoff is None


def cannot_talk(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_running(model)) or agent is None:
        return reason
    if has_ended(agent):
        return f"{agent.name} has ended. {press(model, 'start')} to start it."
    return None


def cannot_stop(model: Model) -> str | None:
    """Return why the agent cannot be stopped; None if it can.

    An agent that runs without a pane can be stopped.
    """
    if model.agent is not None and model.agent.pid is not None:
        return needs_supervisor(model)
    return cannot_talk(model)


def cannot_hand_off(model: Model) -> str | None:
    agent = model.agent
    if (reason := cannot_talk(model)) or agent is None:
        return reason
    if agent.handoff:
        return f"{agent.name} is already being handed off ({agent.handoff.phase})."
    return None


def cannot_choose_cli(model: Model) -> str | None:
    """Return why the user cannot choose the CLI of the next session.

    The choice is possible before a handoff, and while cockpit asks whether to hand off.
    """
    agent = model.agent
    if agent is not None and agent.handoff and agent.handoff.phase == "asked":
        return needs_supervisor(model)
    return cannot_hand_off(model)


def cannot_answer(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.is_snoozed:
        return None
    if agent.needs is None:
        text = f"{agent.name} isn't waiting for you."
        return f"{text} {answered_by(agent, datetime.now(UTC))}".rstrip()
    if agent.needs.kind not in {"handoff", "review", "breaker"}:
        if agent.needs.kind == "resume":
            how = press(model, "resume")
            return (
                f"{agent.name} was interrupted by a reboot or a tmux exit. {how} to reopen all "
                "interrupted agents."
            )
        if agent.needs.kind in {"failed", "usage_limit"}:
            return f"No handoff of {agent.name} is waiting for your answer."
        return f"{agent.name} is asking in its pane. {press(model, 'attach')} to go to the pane."
    return None


DIALOGS = frozenset({"permission", "question"})
"""The values of `needs.kind` for an agent whose CLI shows a dialog."""


def cannot_approve(model: Model) -> str | None:
    """Return why the user can neither approve a handoff nor answer a dialog; None if one of them is
    possible."""
    agent = model.agent
    if agent is not None and agent.needs and agent.needs.kind in DIALOGS:
        return needs_supervisor(model)
    return cannot_answer(model)


def cannot_approve_marked(model: Model) -> str | None:
    """Return why the selected agent cannot be approved together with others; None if it can.

    An agent with a dialog is excluded: the same key answers dialogs, and the user must read a
    dialog before answering it.
    """
    agent = model.agent
    if agent is not None and agent.needs and agent.needs.kind in DIALOGS:
        asks = "asks a question" if agent.needs.kind == "question" else "asks for permission"
        how = press(model, "approve")
        return f"{agent.name} {asks}. {how} on its row, without marks, to answer."
    return cannot_approve(model)


def asks_nothing(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.needs is None or agent.needs.kind not in DIALOGS:
        return f"{agent.name} has no open permission dialog or question."
    return None


def no_other_dialog(model: Model) -> str | None:
    if len(waiting_dialogs(model)) < 2:
        return "No other agent has an open permission dialog or question."
    return None


def waiting_dialogs(model: Model) -> list[str]:
    """Return the names of the agents with an open dialog, in the supervisor's order."""
    return [
        name for name, agent in model.agents.items() if agent.needs and agent.needs.kind in DIALOGS
    ]


def cannot_approve_straight(model: Model) -> str | None:
    """Return why the user cannot approve without a review; None if the user can."""
    agent = model.agent
    if (reason := cannot_answer(model)) or agent is None:
        return reason
    is_asked = agent.handoff is not None and agent.handoff.phase == "asked"
    is_in_review = agent.is_snoozed or (agent.needs and agent.needs.kind != "handoff")
    if is_in_review and not is_asked:
        return f"The review has already begun. {press(model, 'approve')} to approve the document."
    return None


def cannot_read(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.handoff is None:
        how = press(model, "history")
        return f"No handoff of {agent.name} is in progress. {how} for earlier documents."
    if agent.handoff.document is None:
        return f"No document yet ({agent.handoff.phase})."
    return None


def cannot_edit(model: Model) -> str | None:
    agent = model.agent
    if (reason := cannot_read(model)) or agent is None:
        return reason
    if agent.handoff and agent.handoff.phase != "review":
        return "You can edit a document only while it is in review."
    if model.part.is_remote:
        return f"The document is a file on {model.part.host}: edit it there."
    return None


def cannot_edit_files(model: Model) -> str | None:
    if model.part.is_remote:
        return f"The files are on {model.part.host}: edit them there."
    return needs_agent(model)


def cannot_be_done(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.session_id is None:
        return f"{agent.name} was never started. {press(model, 'start')} to start it."
    if agent.state == "done":
        return f"{agent.name} is already done."
    if agent.state in ("working", "starting"):
        return f"{agent.name} is {agent.state}. Wait for the end of its turn."
    return None


def cannot_put_away(model: Model) -> str | None:
    """Return why the selected agent cannot be forgotten or renamed; None if both are possible."""
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.handoff is not None:
        phase = agent.handoff.phase
        return f"{agent.name} is being handed off ({phase}). Wait, or refuse the handoff."
    if agent.pid is not None:
        return f"{agent.name} is running. {press(model, 'stop')} to stop it first."
    if agent.state == "starting":
        stop = f"cockpit stop {model.command_name(agent.name)}"
        return f"{agent.name} is being started. To cancel that: {stop}"
    return None


def cannot_duplicate(model: Model) -> str | None:
    return needs_supervisor(model) or needs_agent(model)


def cannot_undo(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.previous_session_id is None:
        return f"{agent.name} has no previous session to go back to."
    return None


def cannot_enter(model: Model) -> str | None:
    return needs_supervisor(model) or needs_agent(model)


def interrupted(model: Model) -> list[AgentStatus]:
    """Return the agents that a reboot or a tmux exit interrupted."""
    return [
        agent for agent in model.agents.values() if agent.needs and agent.needs.kind == "resume"
    ]


def cannot_resume(model: Model) -> str | None:
    if reason := needs_any_supervisor(model):
        return reason
    if not interrupted(model):
        return "No agents to reopen: none was interrupted by a reboot or a tmux exit."
    return None


def no_agent_needs_you(model: Model) -> str | None:
    if any(agent.state == "needs_you" for agent in model.agents.values()):
        return None
    return "No agent needs you."


def no_other_question(model: Model) -> str | None:
    if len(waiting_reviews(model)) < 2:
        return "No other handoffs are waiting for you."
    return None


def waiting_reviews(model: Model) -> list[str]:
    """Return the names of the agents whose handoff needs an answer, in the supervisor's order."""
    asks = {"handoff", "review", "breaker"}
    return [
        name for name, agent in model.agents.items() if agent.needs and agent.needs.kind in asks
    ]

"""The demo's guide: one line that explains the screen and names the key to press next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.reasons import DIALOGS
from cockpit.tui.present import words
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.span import Span
from cockpit.wire.status import AgentStatus


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    """Identifies the step of an agent, so that a dismissed step is not shown again."""
    text: str


def step(
    agents: Iterable[AgentStatus],
    selected: str | None,
    keys: Mapping[str, str],
    dismissed: Collection[str] = (),
) -> Step | None:
    """Return the most urgent step that is not dismissed; None if there is no such step.

    Of two equally urgent steps, the step of the selected agent comes first.
    """
    everyone = list(agents)
    selected_first = sorted(everyone, key=lambda agent: agent.name != selected)
    steps = [
        make_step(agent, selected, keys)
        for agent in selected_first
        for make_step in (_of_dialog, _of_handoff)
    ]
    ranked = sorted((entry for entry in steps if entry), key=lambda entry: entry[0])
    if everyone and all(agent.state == "done" for agent in everyone):
        ranked.append((8, Step("end", _end(keys))))
    elif moved := [agent for agent in everyone if agent.previous_session_id]:
        ranked.append((8, _after_handoffs(moved, keys)))
    elif undone := [agent for agent in everyone if agent.handoffs]:
        ranked.append((8, _after_undo(undone[0], keys)))
    if everyone and not ranked:
        ranked = [(9, Step("begin", _begin(keys)))]
    return next((entry for _, entry in ranked if entry.id not in dismissed), None)


def step_spans(shown: Step | None, key: str) -> list[Span]:
    """Return a step as spans to wrap; `key` dismisses the step. Empty without a step."""
    if shown is None:
        return []
    return [Span(" ▸ ", "cursor"), Span(shown.text), Span(f"{key} hides this", "muted")]


def _begin(keys: Mapping[str, str]) -> str:
    return (
        "These agents use a simulated model. Each bar shows how full a context is; "
        f"{_key('attach', keys)} opens a pane, "
        f"{_key('pane.back', keys)} comes back."
    )


def _of_dialog(
    agent: AgentStatus, selected: str | None, keys: Mapping[str, str]
) -> tuple[int, Step] | None:
    """Return a step about the agent's open dialog, and its urgency; None without a dialog.

    Each dialog is a step of its own.
    """
    if agent.needs is None or agent.needs.kind not in DIALOGS:
        return None
    press = _press(agent, selected)
    key = _key("approve", keys)
    if agent.needs.kind == "question":
        does, request = "has a question", "question"
    else:
        to_use = f" to use {safe_line(agent.needs.tool, 40)}" if agent.needs.tool else ""
        does, request = f"asks for permission{to_use}", "request"
    if agent.needs.answerable is False:
        text = f"{does}: {press} {_key('attach', keys)} to answer in the agent's pane."
    else:
        text = f"{does}: {press} {key} to read the {request} and answer here."
    about = agent.needs.command or agent.needs.detail
    step_id = f"{agent.needs.kind} {agent.name} {about}"
    return 0, Step(step_id, f"{safe_line(agent.name, LONGEST_NAME)} {text}")


def _press(agent: AgentStatus, selected: str | None) -> str:
    if agent.name == selected:
        return "press"
    return f"select {safe_line(agent.name, LONGEST_NAME)}, then press"


def _of_handoff(
    agent: AgentStatus, selected: str | None, keys: Mapping[str, str]
) -> tuple[int, Step] | None:
    """Return a step about the agent's handoff, and its urgency; None without a step.

    The urgency 0 is the most urgent.
    """
    name = safe_line(agent.name, LONGEST_NAME)
    press = _press(agent, selected)
    phase = agent.handoff.phase if agent.handoff else None
    used = words.percent(agent.context.used)
    if phase == "review" and agent.needs:
        text = (
            f"{name} has written its document: {press} {_key('document', keys)} to read it, "
            f"{_key('approve', keys)} to approve. The session ends only after you approve."
        )
        return 0, Step(f"review {agent.name}", text)
    if phase == "asked" and agent.needs:
        text = (
            f"{name} reached {used}: {press} {_key('approve', keys)} to hand it off. "
            "You will see the document before anything ends."
        )
        return 1, Step(f"asked {agent.name}", text)
    if phase in {"waiting", "documenting"}:
        text = f"{name} is writing a document for a new session. Nothing has ended yet."
        return 2, Step(f"writing {agent.name}", text)
    if phase in {"stopping", "starting", "confirming"}:
        text = f"A new session of {name} starts in the same worktree and reads the document first."
        return 3, Step(f"starting {agent.name}", text)
    return None


def _after_handoffs(moved: Sequence[AgentStatus], keys: Mapping[str, str]) -> Step:
    """Return one step about all agents that were handed off.

    The order of their handoffs is not known here, so no agent gets a step of its own.
    """
    names = [safe_line(agent.name, LONGEST_NAME) for agent in moved]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    if len(names) > 3:
        who = f"{len(names)} agents"
    sessions = "a new session" if len(names) == 1 else "new sessions"
    text = (
        f"{who} continued in {sessions}. {_key('history', keys)} shows each handoff and its "
        f"document; {_key('undo', keys)} reopens the selected agent's previous session."
    )
    return Step(f"done {' '.join(agent.name for agent in moved)}", text)


def _after_undo(agent: AgentStatus, keys: Mapping[str, str]) -> Step:
    name = safe_line(agent.name, LONGEST_NAME)
    text = (
        f"{name} is back in its previous session. An undo does not change the worktree. "
        f"{_key('history', keys)} shows the handoff and its document."
    )
    return Step(f"undone {agent.name}", text)


def _end(keys: Mapping[str, str]) -> str:
    return (
        f"All jobs are done. {_key('history', keys)} shows each handoff and its document, "
        f"{_key('open', keys)} shows an agent's facts and diff, {_key('quit', keys)} ends the demo."
    )


def _key(action: str, keys: Mapping[str, str]) -> str:
    return shown_key(BY_ID[action], keys)

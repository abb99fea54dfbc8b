"""Background work of an agent, from its transcript and its hooks.

The transcript contains each shell's command and log, and the end of most tasks. The hooks report
the tasks that are still running when a turn ends. Each task is listed once, by its id. Only
`update` changes anything: it stores the running tasks in the session's state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cockpit.core.facts import BackgroundTask, Facts, Subagent
from cockpit.core.handoff.events import Turn
from cockpit.core.redaction import Redactor
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent

SUBAGENT = "subagent"
LONGEST = 60
"""Maximum characters of the text of a task."""


def with_background_status(agent: Agent, facts: Facts) -> Facts:
    """Return the facts, corrected by the hooks' reports.

    Updates the status of subagents, and adds tasks and subagents that only the hooks reported.
    """
    activity = agent.session_state.activity
    idle_and_known = activity.turn is Turn.IDLE and activity.background_known
    named = {task.id: task for task in activity.background if task.id}
    known = {subagent.id for subagent in facts.subagents}
    subagents = [
        replace(
            subagent, status=_status_of(subagent, named, activity.subagents, sure=idle_and_known)
        )
        for subagent in facts.subagents
    ]
    subagents += [
        Subagent(task.id, "", "running", task.description)
        for task in named.values()
        if task.type == SUBAGENT and task.id not in known
    ]
    listed = {task.id for task in facts.background}
    others = [task for task in named.values() if task.type != SUBAGENT and task.id not in listed]
    return replace(facts, subagents=tuple(subagents), background=(*facts.background, *others))


def _status_of(
    agent: Subagent, named: dict[str, BackgroundTask], alive: dict[str, str], *, sure: bool
) -> str:
    if agent.id in alive:
        return "running"
    if agent.status == "running" and sure and agent.id not in named:
        return "unknown"
    return agent.status


def update(agent: Agent, make_redactor: Callable[[], Redactor]) -> None:
    """Store the running tasks, without secrets, in the session's state. Idempotent."""
    agent.session_state.drop_ended_background()
    facts = Facts(background=agent.session_state.reading.collector.background())
    current = with_background_status(agent, facts)
    running = tuple(task for task in current.background if task.status == "running")
    before = [(task.id, task.log) for task in agent.session_state.background]
    if before != [(task.id, task.log) for task in running]:
        redactor = make_redactor() if running else Redactor()
        agent.session_state.background = tuple(_without_secrets(task, redactor) for task in running)


def _without_secrets(task: BackgroundTask, redactor: Redactor) -> BackgroundTask:
    return replace(
        task,
        description=redactor.redact(task.description).text,
        command=redactor.redact(task.command).text,
    )


def ended_work_text(agent: Agent) -> str | None:
    """Return a warning that lists the background tasks that end with the session, or None."""
    if not agent.alive or not agent.session_state.background:
        return None
    tasks = agent.session_state.background
    named = ", ".join(task_text(task) for task in tasks[:3])
    more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
    return f"the end of the session also ends the agent's background work: {named}{more}"


def task_text(task: BackgroundTask) -> str:
    """Return a short text for a task: its command, description or type."""
    return safe_line(task.command or task.description or task.type, LONGEST)

"""Map the supervisor's events to hook events and notification topics."""

from __future__ import annotations

from cockpit.core.events import (
    AgentExited,
    AgentStopped,
    BandCrossed,
    BudgetCrossed,
    DayBudgetCrossed,
    ElsewhereCrossed,
    Event,
    RunCompleted,
)


def happened(event: Event) -> tuple[tuple[str, str | None], ...]:
    """Return the hook events for an event, each with the outcome of the agent's run.

    The outcome is None for every hook event except `after_run`.
    """
    match event:
        case BandCrossed(reached=reached):
            return (("context_warning", None),) if "warn" in reached else ()
        case AgentExited():
            outcome = _outcome(event)
            if outcome == "completed" and event.told:
                return ()
            return (("after_run", outcome), *_failed(outcome))
        case AgentStopped(told=told):
            return () if told else (("after_run", "stopped"),)
        case RunCompleted():
            return (("after_run", "completed"),)
        case _:
            hook = SAME_MEANING.get(event.kind)
            return ((hook, None),) if hook else ()


def topic(event: Event) -> str | None:
    """Return the notification topic of an event: needs_you, handed_off, failed or done, or None."""
    if isinstance(event, BudgetCrossed | DayBudgetCrossed | ElsewhereCrossed):
        # No hook event exists for these events. The user set the budget or watches the session.
        return "needs_you"
    events = dict(happened(event))
    if "error" in events:
        return "failed"
    if events.get("after_run") == "completed":
        return "done"
    return {"needs_you": "needs_you", "handoff_complete": "handed_off"}.get(next(iter(events), ""))


SAME_MEANING = {
    "handoff.begun": "handoff_start",
    "handoff.document": "handoff_document",
    "handoff.confirmed": "handoff_complete",
    "handoff.moved": "handoff_complete",
    "agent.compacted": "compaction",
    "agent.needs_you": "needs_you",
    "handoff.failed": "error",
    "handoff.revived": "error",
    "agent.not_started": "error",
    # The CLI has already begun this session, so nothing waits for the hook.
    "session.cleared": "session_start",
}
"""Maps event kinds to hook events, for kinds that always mean the same hook event."""


def _outcome(event: AgentExited) -> str:
    if event.status == 0:
        return "completed" if event.completed else "stopped"
    return "failed"


def _failed(outcome: str) -> tuple[tuple[str, None], ...]:
    return (("error", None),) if outcome == "failed" else ()

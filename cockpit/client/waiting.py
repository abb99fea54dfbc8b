"""Whether an agent has reached what `cockpit wait` waits for, judged by its row. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from cockpit.wire.status import AgentStatus, Needs

Goal = Literal["done", "idle", "needs-you", "handoff"]
GOALS: tuple[Goal, ...] = get_args(Goal)

ANSWERS = {
    "handoff": "cockpit approve {name}, or cockpit refuse {name}",
    "review": "cockpit show {handoff}, then cockpit approve {name}",
    "breaker": "cockpit approve {name}, or cockpit refuse {name}",
    "resume": "cockpit start {name} --resume",
    "usage_limit": "cockpit handoff {name} --to CLI, or wait for the reset",
}
"""What answers each need; every other one is answered in the agent's pane."""


class Verdict(StrEnum):
    """Why there is no more to wait for."""

    REACHED = "reached"
    ENDED = "ended"
    """The agent's process ended first."""


@dataclass(frozen=True, slots=True)
class Wait:
    """What is waited for, and where the agent stood when the wait began."""

    goal: Goal
    handoffs: int = 0
    """Confirmed handoffs at the beginning; `handoff` waits for one more."""

    def verdict(self, row: AgentStatus) -> Verdict | None:
        """None while the agent can still reach it."""
        if self._is_reached(row):
            return Verdict.REACHED
        return Verdict.ENDED if row.state in ("exited", "stopped") and not row.needs else None

    def _is_reached(self, row: AgentStatus) -> bool:
        match self.goal:
            case "done":
                return row.state == "done"
            case "idle":
                return row.state in ("idle", "done")
            case "needs-you":
                return row.needs is not None
            case "handoff":
                return row.handoffs > self.handoffs and row.handoff is None


def answer_command(row: AgentStatus, needs: Needs) -> str:
    """The command with which the user answers what an agent needs."""
    command = ANSWERS.get(needs.kind, "cockpit attach {name}")
    handoff = row.handoff.id if row.handoff else row.name
    return command.format(name=row.name, handoff=handoff)

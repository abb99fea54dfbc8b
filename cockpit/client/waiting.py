"""Decide from an agent's status whether a `cockpit wait` is over. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from cockpit.wire.status import AgentStatus, Needs

Goal = Literal["done", "idle", "needs-you", "handoff"]
GOALS: tuple[Goal, ...] = get_args(Goal)

ENDED = ("exited", "stopped")
"""States of an agent without a process."""

ANSWERS = {
    "handoff": "cockpit approve {name}, or cockpit refuse {name}",
    "review": "cockpit show {handoff}, then cockpit approve {name}",
    "breaker": "cockpit approve {name}, or cockpit refuse {name}",
    "resume": "cockpit start {name} --resume",
    "usage_limit": "cockpit handoff {name} --to CLI, or wait for the reset",
}
"""The command that answers a need, by kind of need. Needs of other kinds are answered in the
agent's pane; dialogs also with `cockpit answer`."""
DIALOGS = ("permission", "question")
"""Kinds of needs that are dialogs in the agent's pane."""


class Verdict(StrEnum):
    """Why a `cockpit wait` is over."""

    REACHED = "reached"
    ENDED = "ended"
    """The agent's process ended before the agent reached the goal of the wait."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The condition of one `cockpit wait`."""

    goal: Goal
    handoffs: int = 0
    """Number of the agent's confirmed handoffs when the wait began. The goal `handoff` needs one
    more."""

    def verdict(self, row: AgentStatus) -> Verdict | None:
        """Return why the wait is over; None while the agent can still reach the goal."""
        if self._is_reached(row):
            return Verdict.REACHED
        if row.needs:
            return Verdict.ENDED if _has_failed(row, row.needs) else None
        return Verdict.ENDED if row.state in ENDED else None

    def _is_reached(self, row: AgentStatus) -> bool:
        match self.goal:
            case "done":
                ended_well = row.job_done or (row.runtime == "command" and row.exit_code == 0)
                return row.state == "done" or (ended_well and row.state in ENDED)
            case "idle":
                return row.state in ("idle", "done")
            case "needs-you":
                return row.needs is not None
            case "handoff":
                return row.handoffs > self.handoffs and row.handoff is None


def _has_failed(row: AgentStatus, needs: Needs) -> bool:
    """Return whether the agent ended with an error and cockpit will not start it again."""
    return needs.kind == "failed" and row.pid is None and row.handoff is None


def answer_command(row: AgentStatus, needs: Needs) -> str:
    """Return the command with which the user can answer an agent's need."""
    command = ANSWERS.get(needs.kind, "cockpit attach {name}")
    if needs.kind in DIALOGS and needs.answerable:
        command = "cockpit answer {name}"
    handoff = row.handoff.id if row.handoff else row.name
    return command.format(name=row.name, handoff=handoff)

"""Format the summary at the end of the demo, and check the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cockpit.core.errors import Failed
from cockpit.core.plurals import counted
from cockpit.core.timestamps import duration
from cockpit.demo.job import Job
from cockpit.demo.jobs import Jobs
from cockpit.wire.status import AgentStatus, Status


def summary(
    status: Status,
    documents: Sequence[Path],
    folder: Path,
    seconds: float,
    *,
    kept: bool,
    saved: int = 0,
) -> str:
    """Return the run's totals on the first line, then a line for each agent and document.

    `documents` are those in the worktrees, which are only listed if the demo's folder is `kept`.
    `saved` is the number of cockpit's copies, which remain when a worktree is removed.
    """
    sessions = sum(map(sessions_of, status.agents))
    handoffs = sum(agent.handoffs for agent in status.agents)
    counts = (
        counted(len(status.agents), "agent"),
        counted(sessions, "session"),
        counted(handoffs, "handoff"),
        counted(max(saved, len(documents)), "document"),
        duration(seconds),
    )
    names = max((len(agent.name) for agent in status.agents), default=0)
    lines = [
        ", ".join(counts),
        *(row(agent, names) for agent in status.agents),
        *(f"  document  {path.relative_to(folder)}" for path in documents if kept),
    ]
    return "\n".join(lines)


def row(agent: AgentStatus, names: int) -> str:
    """Format the line for one agent: name, mode, state and counts.

    `names` is the width of the first column.
    """
    state = agent.state.replace("_", " ")
    parts = [
        f"  {agent.name:<{names}}  {agent.mode:<7}  {state:<11}",
        counted(sessions_of(agent), "session"),
        counted(agent.handoffs, "handoff"),
    ]
    if undone := sessions_of(agent) - (agent.session_number or 0):
        parts.append(f"{undone} undone")
    if agent.compactions:
        parts.append(counted(agent.compactions, "compaction"))
    return "  ".join(parts)


def sessions_of(agent: AgentStatus) -> int:
    """Return the number of an agent's sessions, including those that an undo has ended.

    Each handoff started a session. `session_number` is lower after an undo.
    """
    number = agent.session_number or 0
    return max(number, agent.handoffs + 1) if number else 0


def check(status: Status, documents: Sequence[Path], jobs: Jobs) -> None:
    """Raise `Failed` unless the demo had the expected result.

    Every job must be done. A job that spans sessions must have had a handoff with a document. Every
    other job must have had a compaction and no handoff.
    """
    for agent in status.agents:
        check_agent(agent, jobs[agent.name])
    needed = sum(job.spans_sessions for job in jobs.values())
    if len(documents) < needed:
        raise Failed("A handoff left no document", f"{needed} expected, {len(documents)} found.")


def check_agent(agent: AgentStatus, job: Job) -> None:
    """Raise `Failed` unless this agent's job had the expected result."""
    if agent.state != "done":
        raise Failed(f"{agent.name} did not finish its job", f"The agent's state: {agent.state}.")
    if job.spans_sessions and not agent.handoffs:
        raise Failed(f"{agent.name} finished without a handoff", "A handoff was expected.")
    if not job.spans_sessions and (agent.handoffs or not agent.compactions):
        raise Failed(
            f"{agent.name} was handed off or not compacted", "Only a compaction was expected."
        )

"""Format the summary at the end of the demo, and check the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cockpit.core.errors import Failed
from cockpit.core.plurals import counted
from cockpit.demo.job import Job
from cockpit.demo.jobs import Jobs
from cockpit.wire.status import AgentStatus, Status


def summary(
    status: Status, documents: Sequence[Path], folder: Path, seconds: float, *, kept: bool
) -> str:
    """Return the run's totals on the first line, then a line for each agent and document.

    Documents are only listed if the demo's folder is `kept`.
    """
    sessions = sum(agent.session_number or 0 for agent in status.agents)
    handoffs = sum(agent.handoffs for agent in status.agents)
    counts = (
        counted(len(status.agents), "agent"),
        counted(sessions, "session"),
        counted(handoffs, "handoff"),
        counted(len(documents), "document"),
        f"{seconds:.0f} s",
    )
    lines = [
        ", ".join(counts),
        *map(row, status.agents),
        *(f"  document  {path.relative_to(folder)}" for path in documents if kept),
    ]
    return "\n".join(lines)


def row(agent: AgentStatus) -> str:
    """Format the line for one agent: name, mode, state and counts."""
    state = agent.state.replace("_", " ")
    parts = [
        f"  {agent.name:<12} {agent.mode:<8} {state:<8}",
        counted(agent.session_number or 0, "session"),
        counted(agent.handoffs, "handoff"),
    ]
    if agent.compactions:
        parts.append(counted(agent.compactions, "compaction"))
    return "  ".join(parts)


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

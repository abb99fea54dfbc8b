"""Build the note on an agent's row, which explains the agent's state. Pure."""

from __future__ import annotations

from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.predicates import (
    is_job_done,
    reopen_hint,
    start_again,
    writers_failed,
)

UNREAD_AFTER_TURNS = 3
"""Turns after which the screen says that a new session has not read its document."""


def note(agent: Agent) -> str | None:
    """Return a text that explains the agent's state; None if there is nothing to explain."""
    if agent.handoff and not agent.progress.blocked and (failed := writers_failed(agent)):
        return failed
    if agent.handoff and agent.progress.blocked:
        return safe_line(f"the handoff is waiting: {agent.progress.blocked.why}", 300)
    if agent.start.setup or agent.troubles.worktree:
        return safe_line(agent.start.setup or agent.troubles.worktree or "", 400)
    if agent.troubles.failed:
        return safe_line("; ".join(dict.fromkeys(agent.troubles.failed.values())), 300)
    if (interrupted := reopen_hint(agent)) is not None:
        return safe_line(interrupted, 400)
    if agent.exit is not None and agent.record.wanted and not agent.exit.pending:
        text = " ".join(agent.exit.description.split())
        if remark := " ".join((agent.record.note or "").split()):
            text = f"{text.rstrip('.')}; {remark}"
        if not agent.session_state.replied:
            return safe_line(text, 400)
        return safe_line(f"{text.rstrip('.')}. {start_again(agent)}", 400)
    if unread(agent):
        return "this session has not read its handoff document yet"
    return "; ".join(_remarks(agent)) or None


def _remarks(agent: Agent) -> list[str]:
    """Return further remarks about the agent, the longest-lasting first."""
    late = agent.session_state.compaction.too_late
    late = None if agent.settings.mode == "observe" or is_job_done(agent) else late
    compacted = f"the CLI compacted the context, {late}: too late for a handoff" if late else None
    remarks = (
        _no_record(agent),
        _too_large(agent),
        _faults(agent),
        _no_terminal(agent),
        agent.runtime.lacks(agent.name) if agent.alive else None,
        agent.record.note,
        agent.troubles.shared,
        first_turns(agent),
        warning(agent),
        agent.progress.waits,
        compacted,
    )
    return [safe_line(remark, 300) for remark in remarks if remark]


def first_turns(agent: Agent) -> str | None:
    """Return a remark if a new session repeated a step or question, or broke a standing order."""
    arrival = agent.progress.arrival
    if arrival is None or arrival.new_session != agent.record.session:
        return None
    result = arrival.details.first_turns
    if result is None:
        return None
    lines = [f"broke a standing order: {text}" for text in result.broken]
    lines += [f"repeated a finished step, {text}" for text in result.repeats]
    lines += [f"asked you again: {text}" for text in result.asked_again]
    if not lines:
        return None
    more = f" (and {len(lines) - 1} more: cockpit history --quality)" if len(lines) > 1 else ""
    return f"this session {safe_line(lines[0], 220)}{more}"


def warning(agent: Agent) -> str | None:
    """Return the last errors of hooks that have not succeeded since; at most two errors."""
    return safe_line("; ".join(list(agent.troubles.hooks.values())[-2:]), 300) or None


def _no_record(agent: Agent) -> str | None:
    """Return a remark if the process was found after a restart and has an empty transcript."""
    session_state = agent.session_state
    unknown = (
        session_state.began_at is None
        and not session_state.replied
        and session_state.activity.prompts == 0
    )
    if not (agent.alive and unknown and agent.has_readings):
        return None
    if agent.job is None or not agent.job.prompt:
        return "no transcript yet; this agent was started without a prompt"
    return "the process was found running without a transcript: the earlier work is unknown"


def _too_large(agent: Agent) -> str | None:
    """Return a remark about transcript lines that were too large to read."""
    count = agent.session_state.reading.too_large
    if not count:
        return None
    lines = (
        "1 line of the transcript was" if count == 1 else f"{count} lines of the transcript were"
    )
    text = f"{lines} too large to read"
    if agent.session_state.reading.reading_lost and agent.session_state.gauge.tokens is None:
        text += ", possibly a reply: the context usage is unknown until the next reply"
    return text


def _faults(agent: Agent) -> str | None:
    """Return a remark about transcript lines that do not have the documented shape."""
    reading = agent.session_state.reading
    if not reading.faults:
        return None
    lines = "1 line" if reading.faults == 1 else f"{reading.faults} lines"
    return f"cockpit ignored {lines} of the transcript: {reading.last_fault}"


def _no_terminal(agent: Agent) -> str | None:
    if not agent.alive or agent.record.pane is not None:
        return None
    return (
        "the agent's terminal was closed; the process is still running without a terminal. To "
        "continue in its session: "
        f"cockpit stop {agent.name}, then "
        f"cockpit start {agent.name} --resume {agent.record.session}"
    )


def unread(agent: Agent) -> bool:
    """Return whether a session worked for `UNREAD_AFTER_TURNS` turns without reading its
    document."""
    document = agent.must_read
    if document is None or agent.session_state.activity.turns < UNREAD_AFTER_TURNS:
        return False
    return not agent.has_read(document)

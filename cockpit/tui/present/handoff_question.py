"""The question before a handoff that the user starts: what happens, what ends, and the cost."""

from __future__ import annotations

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.wire.status import AgentStatus


def title(agent: AgentStatus) -> str:
    name = safe_line(agent.name, LONGEST_NAME)
    if agent.state == "done":
        return f"{name} has finished its job. Hand off anyway?"
    successor = _successor(agent)
    return f"Hand off {name} to a new session{successor and f' in {successor}'}?"


def explanation(agent: AgentStatus) -> str:
    """Return the steps of the handoff, the tasks that it ends, and its cost, as sentences.

    For a plain command, no cost is named.
    """
    return " ".join(filter(None, (_steps(agent), _ends(agent), _costs(agent))))


def _steps(agent: AgentStatus) -> str:
    writes = "The agent writes a handoff document, usually in a few minutes."
    if agent.runtime == "command":
        writes = "cockpit writes a handoff document."
    then = "Then the agent's session ends and a new one starts in the same directory."
    if successor := _successor(agent):
        then = (
            "Then the agent's session ends and a new one starts in the same directory, in "
            f"{successor} (setting `successor`) if that CLI can start."
        )
    if agent.mode == "auto":
        return f"{writes} {then}"
    return f"{writes} You review the document. {then}"


def _successor(agent: AgentStatus) -> str:
    """Return the configured CLI of the next session; empty if the CLI stays the same."""
    return safe_line(agent.configured_successor or "", 32)


def _ends(agent: AgentStatus) -> str:
    working = (
        "The agent is working now; its session ends only after the current turn."
        if agent.state == "working"
        else ""
    )
    if not agent.background:
        return working
    count = counted(len(agent.background), "background task")
    return f"{working} Ending the session also ends {count}.".strip()


def _costs(agent: AgentStatus) -> str:
    if agent.runtime == "command":
        return ""
    if agent.context.tokens is None:
        return "The handoff costs a turn of this session, and the start of a new session."
    tokens = words.tokens(agent.context.tokens)
    return f"The handoff costs a turn at {tokens} tokens, and the start of a new session."

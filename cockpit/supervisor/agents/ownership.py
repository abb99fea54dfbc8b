"""Checks that a handoff document belongs to an agent and its session.

The front matter decides. A document without one counts as written by the user.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.documents.files import Documents
from cockpit.core import document
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent


def checked_document(documents: Documents, agent: Agent, path: str | None) -> str | None:
    """Check a document that the caller named; returns its path. Raises `BadUsage`."""
    if path is None:
        return None
    text = documents.read_own(Path(path))
    problems = [problem.text for problem in document.validate(text) if not problem.mends]
    if problems:
        raise BadUsage(f"{safe_line(path)} is not a handoff document", "\n".join(problems))
    refuse_foreign_document(text, path, agent.name, agent.record.session)
    return path


def refuse_foreign_document(text: str, path: str, agent: str, session: str | None) -> None:
    """Raise `BadUsage` for a document of another agent or another session."""
    front, shown = document.read(text).front, safe_line(path)
    if front is None:
        return
    if front.agent and front.agent != agent:
        origin = f"It was left by the agent {safe_line(front.agent, 80)}."
    elif front.old_session_id and session and front.old_session_id != session:
        origin = f"It was left by the session {safe_line(front.old_session_id, 80)}, not this one."
    else:
        return
    raise BadUsage(
        f"{shown} is not a document of {agent}'s session",
        origin,
        f"Start a new agent from it: cockpit continue {shown}",
    )

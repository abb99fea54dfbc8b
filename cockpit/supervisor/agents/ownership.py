"""Which documents may be handed on for an agent: of this session of its own, and nobody else's.

Goes by the front matter; a document without one is the user's own words. Begins nothing.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.documents.files import Documents
from cockpit.core import document
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent


def checked_document(documents: Documents, agent: Agent, path: str | None) -> str | None:
    """A document that was given is checked before anything begins. Raises `BadUsage`."""
    if path is None:
        return None
    text = documents.read_own(Path(path))
    problems = [each.text for each in document.validate(text) if not each.mends]
    if problems:
        raise BadUsage(f"{safe_line(path)} is not a handoff document", "\n".join(problems))
    refuse_anothers(text, path, agent.name, agent.record.session)
    return path


def refuse_anothers(text: str, path: str, agent: str, session: str | None) -> None:
    """Raise `BadUsage` for a document that names another agent, or another session that left it."""
    front, shown = document.read(text).front, safe_line(path)
    if front is None:
        return
    if front.agent and front.agent != agent:
        words = f"It was left by the agent {safe_line(front.agent, 80)}."
    elif front.old_session_id and session and front.old_session_id != session:
        words = f"It was left by the session {safe_line(front.old_session_id, 80)}, not this one."
    else:
        return
    raise BadUsage(
        f"{shown} is not a document of {agent}'s session",
        words,
        f"Start an agent of its own from it: cockpit continue {shown}",
    )

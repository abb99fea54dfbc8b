"""Check, by its front matter, that a handoff document belongs to an agent's session.

A document without front matter is accepted, because the user may have written it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_own, read_within
from cockpit.core import document
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.dependencies import Dependencies


async def checked_document(
    dependencies: Dependencies, agent: Agent, path: str | None, *, by_agent: bool
) -> str | None:
    """Check that a document named in a request is valid and belongs to the agent's session.

    Returns `path` unchanged; None if `path` is None. Raises `BadUsage`, and `NoAnswer` if the file
    system does not answer.
    """
    if path is None:
        return None
    read = given_document(agent, Path(path), by_agent=by_agent)
    text = await read_document(dependencies, Path(path), read)
    problems = [problem.text for problem in document.validate(text) if not problem.mends]
    if problems:
        raise BadUsage(
            f"{safe_line(path)} is not a handoff document",
            "\n".join(problems),
            hint="Correct these points in the file, then try again.",
        )
    refuse_foreign_document(text, path, agent.name, agent.record.session)
    return path


def given_document(agent: Agent, path: Path, *, by_agent: bool) -> Callable[[], str]:
    """Return a function that reads the document.

    With `by_agent`, the function reads only files in the agent's own directory.
    """
    if by_agent:
        return partial(read_within, agent.directory, path)
    return partial(read_own, path)


def refuse_foreign_document(text: str, path: str, agent: str, session: str | None) -> None:
    """Raise `BadUsage` if the document is from another agent or another session."""
    front, shown = document.read(text).front, safe_line(path)
    if front is None:
        return
    if front.agent and front.agent != agent:
        origin = f"The document was written by the agent {safe_line(front.agent, 80)}."
    elif front.old_session_id and session and front.old_session_id != session:
        origin = (
            f"The document was written by another session, {safe_line(front.old_session_id, 80)}."
        )
    else:
        return
    raise BadUsage(
        f"{shown} is not a document of {agent}'s session",
        origin,
        f"To start a new agent from the document: cockpit continue {shown}",
    )

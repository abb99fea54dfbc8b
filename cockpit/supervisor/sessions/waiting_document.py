"""Find a handoff document that no session has read, in the directory where an agent starts.

`HANDOFF_PENDING.md` in the agent's handoff folder contains the document's path. The agent starts
without the document; the user can continue from the document.
"""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

from cockpit.config.schema import AgentSettings
from cockpit.core.errors import OsProblem
from cockpit.core.safetext import safe_line
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.location import DIRECTORY_SECONDS


async def waiting_document(
    dependencies: Dependencies, directory: Path, settings: AgentSettings
) -> Path | None:
    """Return the unread document of this directory; None if there is none, or on an error."""
    documents, folder = dependencies.documents, str(settings.handoff.directory)
    try:
        find = partial(documents.waiting, directory, folder)
        return await dependencies.slow.ask(("waiting", directory), find, DIRECTORY_SECONDS)
    except (OsProblem, OSError):
        return None


def offer_text(document: Path) -> str:
    """Return a clause with the command that continues from the document."""
    shown = shlex.quote(safe_line(str(document), 4096))
    return (
        "a handoff document is waiting in the directory; to continue from the document: "
        f"cockpit continue {shown}"
    )

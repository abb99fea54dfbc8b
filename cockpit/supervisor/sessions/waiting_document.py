"""Offers the document of a handoff that no session took over, where an agent starts.

`HANDOFF_PENDING.md` beside it says so. Starting goes on without it; the user decides.
"""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

from cockpit.config.schema import AgentSettings
from cockpit.core.errors import Hindered
from cockpit.core.safetext import safe_line
from cockpit.supervisor.dependencies import Dependencies


async def waiting_document(
    dependencies: Dependencies, directory: Path, settings: AgentSettings
) -> Path | None:
    """The document that waits in this directory; None if none does, or it cannot be looked at."""
    documents, folder = dependencies.documents, str(settings.handoff.directory)
    try:
        return await dependencies.slow.ask(
            ("waiting", directory), partial(documents.waiting, directory, folder)
        )
    except (Hindered, OSError):
        return None


def offer_text(document: Path) -> str:
    """A clause that names the document, with the command that continues from it."""
    shown = safe_line(str(document), 4096)
    return f"a handoff waits there; to continue it: cockpit continue {shlex.quote(shown)}"

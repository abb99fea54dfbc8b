"""The folder in which copies of sessions run that write a handoff document.

A CLI reads settings from the directory that it runs in, also such as start programs. In the agent's
worktree these would be the repository's, in a process that nobody was asked about.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.core.errors import Failed

FOLDER = "copies"
"""Below the state folder. It is always the same, because Gemini notes each directory."""


def copies_folder(state: Path) -> Path:
    """Return the folder, which is private and empty. Raises `Failed` if something lies in it."""
    folder = state.absolute() / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.scandir(folder) as found:
        if any(found):
            raise Failed(
                "Cannot start a copy of the session",
                f"{folder} has to be empty: a CLI would read settings there.",
                "Remove what lies in it.",
            )
    return folder

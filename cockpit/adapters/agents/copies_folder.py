"""The working directory of session copies that write a handoff document.

For CLIs that can open a copy outside the session's directory: Codex, Gemini and Copilot. A CLI
reads settings from its working directory, including settings that start programs. In the agent's
worktree, the repository's settings would apply to a process that the user did not approve.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.core.errors import Failed

FOLDER = "copies"
"""Name of the copies' working directory, below the state folder. The name is always the same,
because Gemini keeps an entry for every directory that it runs in."""


def copies_folder(state: Path) -> Path:
    """Return the working directory of session copies, created if it is missing.

    Raises `Failed` if the directory is not empty.
    """
    folder = state.absolute() / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.scandir(folder) as entries:
        if any(entries):
            raise Failed(
                "Cannot start a copy of the session",
                f"{folder} is not empty; a CLI would read settings there.",
                "Remove the contents of this folder.",
            )
    return folder

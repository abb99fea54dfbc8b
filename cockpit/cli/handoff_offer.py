"""Tell the user's own session that a handoff document is waiting in its directory.

`cockpit setup claude` and `cockpit setup gemini` let the CLI run this module as a hook. The hook
runs no program and reads a few small files. It prints the document's path but not its text, because
anybody can put such a file into a repository.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LONGEST = 0.9
"""Maximum seconds for reading the files, because the user is waiting for the session. The start of
Python is not included; on a busy machine, it can take more than `LONGEST`."""
_FOLDER = re.compile(r"[\w.-]+(/[\w.-]+)*")
_DOCUMENT = re.compile(r"handoff-\d{4}-\d\d-\d\d-\d{6}(-\d{1,3})?\.md")
"""Matches the file names that a session may see. Any other name could contain instructions for the
model."""


def print_offer() -> int:
    """Print the hook response for the CLI, or nothing if no document is waiting; return 0.

    The hook's shell command hides errors, and does not call this function inside an agent.
    """
    if is_interactive(os.environ):
        _load_modules()
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        document = waiting_document(Path.cwd(), os.environ)
        if document is not None:
            sys.stdout.write(json.dumps(answer(document)))
    return 0


def _load_modules() -> None:
    """Load the modules that `waiting_document` uses."""
    import cockpit.adapters.documents.files
    import cockpit.config.file
    import cockpit.config.paths
    import cockpit.config.project  # noqa: F401


def is_interactive(environment: Mapping[str, str]) -> bool:
    """Return whether a person can see the session. False for `claude -p` and the SDK."""
    return not environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def waiting_document(directory: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the document that is waiting in this directory or a parent in the same repository.

    Returns None if there is none.
    """
    from cockpit.adapters.documents.files import FOLDER, Documents
    from cockpit.config.paths import Places
    from cockpit.config.project import repository_root

    places = Places.of(environment)
    documents = Documents(places.handoffs)
    root = repository_root(directory) or directory
    folders = {FOLDER: None, **dict.fromkeys(_configured_folders(places.user_file, directory))}
    for up in (directory, *directory.parents):
        for folder in folders:
            document = documents.waiting(up, folder)
            if document is not None and _DOCUMENT.fullmatch(document.name):
                return document
        if up == root:
            break
    return None


def answer(document: Path) -> dict[str, Any]:
    """Return the hook response: one text for the user, and one for the model."""
    path = shlex.quote(str(document))
    return {
        "systemMessage": f"A handoff document is waiting here: {path}. To continue the job, ask "
        f"the agent to read that file, or run: cockpit continue {path}",
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": f"A handoff document of an earlier session is waiting here: "
            f"{path}. Read it only if the user asks to continue that work.",
        },
    }


def _configured_folders(user_file: Path, directory: Path) -> Iterator[str]:
    """Yield each `handoff.directory` in the user's and the project's configuration file.

    Skips invalid files. Does not check other settings, because that would delay the session.
    """
    from cockpit.config.file import LARGEST_FILE, LARGEST_FOUND, read_config_file
    from cockpit.config.project import project_file
    from cockpit.core.errors import BadConfig

    for path, is_own in ((user_file, True), (project_file(directory), False)):
        if path is None or not path.is_file():
            continue
        largest = LARGEST_FILE if is_own else LARGEST_FOUND
        try:
            data = read_config_file(path, follow_links=is_own, largest=largest).data
        except BadConfig:
            continue
        agents = data.get("agents")
        for table in (data.get("defaults"), *(agents if isinstance(agents, list) else ())):
            handoff = table.get("handoff") if isinstance(table, Mapping) else None
            folder = handoff.get("directory") if isinstance(handoff, Mapping) else None
            if isinstance(folder, str) and _FOLDER.fullmatch(folder):
                yield folder

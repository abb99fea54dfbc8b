"""What Claude Code would ask on its first screens, read from its own file and never answered.

The dialogs hold every hook back until a person has been through them, so `cockpit doctor` tells
of them beforehand. Writing the answers would be deciding for the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file

_LARGEST_BYTES = 50_000_000


def state_file(environment: Mapping[str, str]) -> Path:
    """Where the CLI keeps who was welcomed and which folders are trusted."""
    folder = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME") or str(Path.home())
    return Path(folder) / ".claude.json"


def open_questions(environment: Mapping[str, str], repository: Path | None) -> list[str]:
    """The dialogs that would stand in a new pane: `onboarding`, `trust`; empty when none.

    `repository` is the root of the main checkout, which the CLI keys trust by; a parent that is
    trusted covers it. None leaves trust out.
    """
    state = _state(state_file(environment))
    questions = [] if state.get("hasCompletedOnboarding") is True else ["onboarding"]
    if repository is not None and not _trusted(state, repository):
        questions.append("trust")
    return questions


def _trusted(state: Mapping[str, Any], repository: Path) -> bool:
    projects = state.get("projects")
    if not isinstance(projects, dict):
        return False
    for folder in (repository, *repository.parents):
        project = projects.get(str(folder))
        if isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True:
            return True
    return False


def _state(file: Path) -> dict[str, Any]:
    """The file's content; empty when it is not there or is no JSON object."""
    try:
        found = json.loads(read_file(file, _LARGEST_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

"""Predict Claude Code's first-run dialogs from its own state file.

No hook runs until the user has answered these dialogs, so `cockpit doctor` reports them in advance.
cockpit never writes this file: only the user may answer these dialogs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file
from cockpit.core.foreign_json import loads

_LARGEST_BYTES = 50_000_000


def state_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the file in which the CLI stores onboarding and folder trust."""
    folder = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME") or str(Path.home())
    return Path(folder) / ".claude.json"


def open_questions(environment: Mapping[str, str], repository: Path | None) -> list[str]:
    """Return the dialogs that a new session would show: `onboarding`, `trust`.

    `repository` is the root of the main checkout, for which the CLI stores trust. A repository in a
    trusted folder is trusted too. If `repository` is None, trust is not checked.
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
    try:
        state = loads(read_file(file, _LARGEST_BYTES))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}

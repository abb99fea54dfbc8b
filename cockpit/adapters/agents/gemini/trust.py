"""Check whether Gemini trusts a directory.

In an untrusted directory, Gemini begins to work on a first prompt before the user answers its trust
dialog, and runs no hooks (0.61.0). So trust is checked before Gemini is started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.gemini.settings import config_folder, read_object, user_settings
from cockpit.adapters.files.foreign_files import read_text

FILE_VARIABLE = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"
_LARGEST_POINTER = 8192


def is_trusted(directory: Path, environment: Mapping[str, str]) -> bool:
    """Return whether Gemini starts in this directory without its trust dialog."""
    if environment.get("GEMINI_RESTRICTED_MODE") == "true" or environment.get(VARIABLE) == "false":
        return False
    if environment.get(VARIABLE) == "true" or not _asks(environment):
        return True
    return _rule(directory, environment) in {"TRUST_FOLDER", "TRUST_PARENT"}


def is_worktree_of_trusted(directory: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the directory is in a git worktree whose main checkout is trusted.

    False if a trust rule of the user already applies to the directory itself.
    """
    if environment.get("GEMINI_RESTRICTED_MODE") == "true" or environment.get(VARIABLE) == "false":
        return False
    main = _main_checkout(directory)
    if main is None or _rule(directory, environment) is not None:
        return False
    return is_trusted(main, environment)


def _asks(environment: Mapping[str, str]) -> bool:
    """Return whether the trust dialog is enabled in the user's settings; the default is True."""
    security = user_settings(environment).get("security")
    asked = security.get("folderTrust") if isinstance(security, Mapping) else None
    return not (isinstance(asked, Mapping) and asked.get("enabled") is False)


def _rule(directory: Path, environment: Mapping[str, str]) -> str | None:
    """Return the trust rule of the longest path that contains the directory; None if there is
    none."""
    named = environment.get(FILE_VARIABLE)
    file = Path(named) if named else config_folder(environment) / "trustedFolders.json"
    real = Path(os.path.realpath(directory))
    rule, longest = None, -1
    for path, level in read_object(file).items():
        trusted = Path(path).parent if level == "TRUST_PARENT" else Path(path)
        inside = real.is_relative_to(os.path.realpath(trusted))
        if inside and isinstance(level, str) and len(path) > longest:
            rule, longest = level, len(path)
    return rule


def _main_checkout(directory: Path) -> Path | None:
    """Return the main checkout of the linked worktree that contains a directory; None outside a
    linked worktree.

    A `.git` file can contain the path of any repository. So the repository's own record of the
    worktree must also point back to this `.git` file.
    """
    real = Path(os.path.realpath(directory))
    for folder in (real, *real.parents):
        mark = folder / ".git"
        if mark.is_file():
            return _repository_of(mark)
        if os.path.lexists(mark):
            return None
    return None


def _repository_of(mark: Path) -> Path | None:
    pointed = _pointer(mark)
    if pointed is None or pointed.parent.name != "worktrees":
        return None
    git = pointed.parent.parent
    if git.name != ".git" or _pointer(pointed / "gitdir") != mark:
        return None
    return git.parent


def _pointer(file: Path) -> Path | None:
    """Return the resolved path in one of git's files; None if there is no valid path."""
    try:
        text = read_text(file, _LARGEST_POINTER, follow_links=False)
    except OSError:
        return None
    text = text.removeprefix("gitdir:").strip()
    return Path(os.path.realpath(file.parent / text)) if text and "\0" not in text else None

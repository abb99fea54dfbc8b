"""File names that git or a file system treats as `.git`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_SHORT_NAME = re.compile(r"git~[0-9]+")


def is_git_name(name: str) -> bool:
    """Return whether a part of a path is `.git`, or a name that some file system treats as `.git`.

    File systems may ignore case, zero-width characters, final dots and spaces, or the part after a
    colon, and may have short names (`GIT~1`).
    """
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = visible.casefold().partition(":")[0].rstrip(". ")
    return plain == ".git" or _SHORT_NAME.fullmatch(plain) is not None


def names_git_folder(parts: Iterable[str]) -> bool:
    """Return whether any part of a path is `.git` or equivalent. Does not resolve symlinks."""
    return any(is_git_name(part) for part in parts)

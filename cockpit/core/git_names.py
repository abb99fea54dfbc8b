"""Names that git, or a file system below it, takes for `.git`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_SHORT_NAME = re.compile(r"git~[0-9]+")


def is_git_name(name: str) -> bool:
    """Whether one part of a path is `.git`, or could be the same folder somewhere.

    File systems ignore case, characters without a width, or final dots, and have short names.
    """
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = visible.casefold().partition(":")[0].rstrip(". ")
    return plain == ".git" or _SHORT_NAME.fullmatch(plain) is not None


def names_git_folder(parts: Iterable[str]) -> bool:
    """Whether one of the parts of a path, as it is written, is a name of git's own folder."""
    return any(is_git_name(part) for part in parts)

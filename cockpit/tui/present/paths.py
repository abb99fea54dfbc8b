"""Paths for display: `~` for the home directory, without control characters."""

from __future__ import annotations

import re
from pathlib import PurePath

from cockpit.core.safetext import safe_line


def short_path(path: str, home: str) -> str:
    """Return the path with `~` for the home directory, safe to show."""
    if home and PurePath(path).is_relative_to(home):
        path = f"~/{PurePath(path).relative_to(home)}".removesuffix("/.")
    return safe_line(path, 200)


def short_paths(text: str, home: str) -> str:
    """Return the text with `~` for the home directory at the beginning of paths.

    Only a path after a space or an opening bracket is changed. In a path in quotes, a shell would
    not expand `~`.
    """
    if not home or home == "/":
        return text
    return re.sub(rf"(?<![^\s(]){re.escape(home)}(?=/|[\s).,;]|$)", "~", text)


def far_home_refusal(typed: str, host: str | None) -> str | None:
    """Return why a directory that begins with `~` is refused for another host; None otherwise.

    `host` is None for this machine, which expands `~`. A supervisor expects an absolute path.
    """
    if host is None or not typed.startswith("~"):
        return None
    return f"~ cannot be expanded on {safe_line(host, 32)}. Enter the absolute path there."

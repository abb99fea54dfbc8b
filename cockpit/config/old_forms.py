"""Older value formats: commands as one string, times in milliseconds.

Each conversion yields a notice. `config.aliases` converts the names of settings, and adds the line
numbers to the notices.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from cockpit.config.lines import KeyPath
from cockpit.config.quantities import spelled_duration

LONGEST_SECONDS = 3600
"""Maximum seconds of a hook's timeout; a larger whole number is read as milliseconds."""
LONGEST_SESSION = 30 * 86_400
"""Maximum seconds of a session's time limit; a larger whole number is read as milliseconds."""
_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#\n]|^\w+=")

Found = tuple[KeyPath, str]
"""The key of a converted value, and the notice."""


def with_current_formats(table: dict[str, Any], scope: KeyPath) -> Iterator[Found]:
    """Convert older formats in one table (top level, `[defaults]` or an agent's), in place.

    Yields the key of each converted value, with a notice.
    """
    yield from _command(table, "command", scope)
    for name in ("worktree", "workspace"):
        if isinstance(inner := table.get(name), dict):
            yield from _command(inner, "setup", (*scope, name))
    if isinstance(hooks := table.get("hooks"), dict):
        for event, hooked in hooks.items():
            for place, hook in enumerate(hooked if isinstance(hooked, list) else ()):
                if isinstance(hook, dict):
                    at = (*scope, "hooks", event, place)
                    yield from _command(hook, "command", at)
                    yield from _milliseconds(hook, "timeout", at, LONGEST_SECONDS)
    for name in ("session", "limits"):
        if isinstance(inner := table.get(name), dict):
            key = "timeout" if name == "session" else "session_time"
            yield from _milliseconds(inner, key, (*scope, name), LONGEST_SESSION)


def vector(command: str) -> list[str]:
    """Split a command line into arguments; for a line with shell syntax, return `sh -c` and the
    line.

    Raises `ValueError` for an unclosed quote.
    """
    return ["sh", "-c", command] if _SHELL.search(command) else shlex.split(command)


def _command(table: dict[str, Any], key: str, scope: KeyPath) -> Iterator[Found]:
    written = table.get(key)
    if not isinstance(written, str) or not written.strip():
        return
    try:
        table[key] = vector(written)
    except ValueError:
        return  # the schema refuses it later, because it is not a list
    by_shell = table[key][:2] == ["sh", "-c"]
    yield (*scope, key), f"is a string; cockpit {'runs it with sh' if by_shell else 'splits it'}"


def _milliseconds(
    table: dict[str, Any], key: str, scope: KeyPath, longest: float
) -> Iterator[Found]:
    written = table.get(key)
    if not isinstance(written, int) or isinstance(written, bool) or written <= longest:
        return
    table[key] = written / 1000
    yield (*scope, key), f"is read as milliseconds: {spelled_duration(written / 1000)}"

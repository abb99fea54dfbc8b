"""Recognise shell commands that change files of the worktree.

Only commands whose purpose is to change files count. Files that a script or a build writes are
unknown.
"""

from __future__ import annotations

from functools import lru_cache

from cockpit.core.command_lines import bare_command, parts
from cockpit.core.deferred_pattern import deferred_pattern

_WORDS_OF_CHANGES = (
    "sed perl patch apply cherry-pick merge pull rebase restore revert reset stash checkout "
    "switch fmt format fix black isort prettier --write"
)
_MAY_CHANGE = (*_WORDS_OF_CHANGES.split(), " am", "cat ", "cat>", "tee ")
"""Only command lines with one of these texts are matched against `_CHANGES`, because searching for
the texts is faster."""
_CHANGES = deferred_pattern(
    r"(?:sed|perl)\s+(?:-\S+\s+)*(?:-\w*i|--in-place)|patch\s"
    r"|git\s+(?:-\S+\s+\S+\s+)*(?:apply|am|cherry-pick|merge|pull|rebase|restore|revert)\b"
    r"|git\s+(?:-\S+\s+\S+\s+)*(?:reset\s.*--hard|stash\s+(?:pop|apply)|(?:checkout|switch)\s(?!-[bBcC]\b))"
    r"|(?:ruff\s+format|black|isort|cargo\s+fmt)\b(?!.*--(?:check|diff))|gofmt\s.*-w\b|cargo\s+fix"
    r"|prettier\s.*(?:--write|-w)\b|\S+\s.*--fix\b|biome\s.*--write\b"
    r"|(?:cat\s*>>?|tee(?:\s+-a)?)\s*(?!/dev/|/tmp/|/var/tmp/)[\w./~\"'$]"
)


@lru_cache(maxsize=64)
def changes_files(command: str) -> bool:
    """Return whether a command line has a command whose purpose is to change files."""
    if not any(text in command for text in _MAY_CHANGE):
        return False
    return any(_CHANGES.match(bare_command(part.text)) for part in parts(command))

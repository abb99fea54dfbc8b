"""The key names of the founding documents, taken for what they are called today.

Each is accepted with one line that names its counterpart, or says why it has none.
"""

from __future__ import annotations

from typing import Any

from cockpit.config.file import ConfigFile


def with_present_names(file: ConfigFile) -> tuple[ConfigFile, dict[str, Any], tuple[str, ...]]:
    """The file with its old places noted, its data in present names, and the notices."""
    return file, dict(file.data), ()

"""Read the user's own Gemini settings. cockpit never writes these files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.gemini.models import COMPACTION_SHARE
from cockpit.adapters.files.foreign_files import read_text
from cockpit.core.foreign_json import loads

_LARGEST = 2_000_000
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Gemini's settings and transcripts."""
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME") or Path.home()
    return Path(home) / ".gemini"


def settings_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the user's settings for all projects."""
    return config_folder(environment) / "settings.json"


def user_settings(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the user's settings; empty if the file is missing or unreadable."""
    return read_object(settings_file(environment))


def read_object(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file; empty if there is none. The file may have comments."""
    try:
        text = read_text(path, _LARGEST)
        value = loads(_COMMENT.sub(lambda match: match[1] or "", text))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def compaction_share(environment: Mapping[str, str]) -> float:
    """Return the share of the window at which Gemini compacts, from the user's settings.

    `COMPACTION_SHARE` without a valid setting. Settings of the project and of the machine can
    change the share too, but are not read.
    """
    model = user_settings(environment).get("model")
    share = model.get("compressionThreshold") if isinstance(model, Mapping) else None
    if isinstance(share, int | float) and not isinstance(share, bool) and 0 < share <= 1:
        return float(share)
    return COMPACTION_SHARE

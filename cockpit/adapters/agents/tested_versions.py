"""The version of each CLI with which cockpit is tested."""

from __future__ import annotations

import re

TESTED = {
    "claude": "2.1.330",
    "codex": "0.169.0",
    "copilot": "1.0.102",
    "gemini": "0.61.0",
    "opencode": "1.18.33",
}
_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


def is_older(name: str, version: str) -> bool:
    """Return whether a CLI is older than the tested version; False if `version` has no number."""
    match = _NUMBERS.search(version)
    return match is not None and _parts(match[0]) < _parts(TESTED[name])


def _parts(version: str) -> list[int]:
    return [int(part[:9]) for part in version.split(".")]

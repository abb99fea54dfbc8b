"""What a screen that died would like to have known: who was selected. A small file, no more.

Nothing depends on it: a file that cannot be read or written costs a selection, not a screen.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 4096


def remembered(file: Path | None) -> str | None:
    """The name that was selected last; None if nobody knows."""
    if file is None:
        return None
    try:
        with file.open("rb") as stream:
            known = json.loads(stream.read(MOST_BYTES))
    except (OSError, ValueError):
        return None
    selected = known.get("selected") if isinstance(known, dict) else None
    return selected if isinstance(selected, str) else None


def remember(file: Path | None, selected: str | None) -> None:
    """Write it down, whole or not at all."""
    if file is None:
        return
    with suppress(OSError):
        beside = file.with_name(f"{file.name}.new")
        beside.write_text(json.dumps({"selected": selected}), encoding="utf-8")
        beside.chmod(0o600)
        beside.replace(file)

"""What a screen that died would like to have known: who was selected, how it was arranged.

A small file, no more. Nothing depends on it: one that cannot be read or written costs an
arrangement, not a screen.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class View:
    """How the pilot left the fleet's screen."""

    selected: str | None = None
    sort: str = "need"
    """One of `present.sorting.ORDERS`."""
    beside: bool | None = None
    """The pane stands beside the list; None: wherever there is room for it."""
    list_height: int = 55
    """Per cent of the screen that the list may take where the pane stands below it."""
    list_width: int = 60
    """Per cent of the screen that the list has where the pane stands beside it."""


class Memory:
    """A view that outlives the screen. Without a file it lives as long as the screen does."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.view = self._written = _read(file)

    def change(self, **changes: Any) -> None:
        """Change the view; it is written down with the next `keep`."""
        self.view = replace(self.view, **changes)

    def keep(self, **changes: Any) -> None:
        """Change the view, and write it down, whole or not at all."""
        self.change(**changes)
        if self._file is None or self.view == self._written:
            return
        self._written = self.view
        with suppress(OSError):
            beside = self._file.with_name(f"{self._file.name}.new")
            beside.write_text(json.dumps(asdict(self.view)), encoding="utf-8")
            beside.chmod(0o600)
            beside.replace(self._file)


def _read(file: Path | None) -> View:
    """What the file says, value by value; what makes no sense is as if it were not there."""
    if file is None:
        return View()
    try:
        with file.open("rb") as stream:
            known = json.loads(stream.read(MOST_BYTES))
    except (OSError, ValueError):
        return View()
    if not isinstance(known, dict):
        return View()
    usual = View()
    kept = {
        field.name: known[field.name]
        for field in fields(View)
        if field.name in known and _fits(field.name, known[field.name], usual)
    }
    return View(**kept)


def _fits(name: str, value: object, usual: View) -> bool:
    if name == "selected":
        return value is None or isinstance(value, str)
    if name == "beside":
        return value is None or isinstance(value, bool)
    if isinstance(getattr(usual, name), int):
        return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 100
    return isinstance(value, str)

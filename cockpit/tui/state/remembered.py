"""Remember the selection, the sort order and the layout in a small file, across restarts.

If the file cannot be read, the defaults are used. Write errors are ignored.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from cockpit.core.deferred_dataclass import dataclass

MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class View:
    """The saved sort order, layout and selection of the agents' screen."""

    selected: str | None = None
    sort: str = "need"
    """The sort order, one of `present.sorting.ORDERS`."""
    beside: bool | None = None
    """Whether the pane is beside the list; None to decide by the width."""
    list_height: int = 55
    """Maximum height of the list in per cent of the screen, if the pane is below it."""
    list_width: int = 60
    """Width of the list in per cent of the screen, if the pane is beside it."""


class ViewMemory:
    """Keeps the view, and saves it to a file. Without a file the view is lost on exit."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.view = self._written = _read(file)

    def change(self, **changes: Any) -> None:
        """Change the view; the next `keep` saves it."""
        self.view = replace(self.view, **changes)

    def keep(self, **changes: Any) -> None:
        """Change the view and save it atomically; ignores write errors."""
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
    """Return the view in the file; invalid values are ignored."""
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

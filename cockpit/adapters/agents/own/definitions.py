"""The runtimes that users define in configuration files, by name.

The supervisor saves the definitions, so that it recognises running agents after a restart even if
the configuration has changed. The saved file is private, because arguments may contain secrets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from cockpit.adapters.files.private_file import write_private
from cockpit.config.own_runtimes import NAME_PATTERN, OwnRuntime, installed_runtimes
from cockpit.core.errors import NotNow, OsProblem

KEPT = "runtimes.json"
"""Name of the file in which the definitions are saved, below the state folder."""


class Definitions:
    """The definitions of the user's runtimes by name, each with its configuration file."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        self._known: dict[str, tuple[OwnRuntime, str]] = {}

    @classmethod
    def of(cls, defined: Mapping[str, OwnRuntime]) -> Definitions:
        """Return a `Definitions` with these definitions, without saving them to a file."""
        definitions = cls()
        definitions.define(defined, {})
        return definitions

    def find(self, name: str) -> OwnRuntime | None:
        """Return the definition with this name; None if there is none."""
        known = self._known.get(name)
        return known[0] if known else None

    def names(self) -> tuple[str, ...]:
        return tuple(self._known)

    def successors(self) -> tuple[str, ...]:
        """Return the names of the runtimes that can continue a job.

        These are the defined runtimes with a record, and all runtimes of installed packages: their
        capabilities are not known before they are loaded.
        """
        recorded = (name for name, (definition, _) in self._known.items() if definition.record)
        return tuple(dict.fromkeys((*recorded, *self._installed)))

    @cached_property
    def _installed(self) -> tuple[str, ...]:
        """The names of installed packages' runtimes. Read once, because reading takes some
        milliseconds and rows are built many times a second."""
        names = sorted(installed_runtimes())
        return tuple(name for name in names if NAME_PATTERN.fullmatch(name))

    def check(self, defined: Mapping[str, OwnRuntime], files: Mapping[str, str]) -> None:
        """Raise `NotNow` if another file that still exists defines a runtime of the same name
        differently."""
        for name, definition in defined.items():
            known = self._known.get(name)
            if known is None or known[0] == definition or known[1] == files.get(name):
                continue
            if Path(known[1]).exists():
                raise NotNow(
                    f'Another file already has a runtime "{name}"',
                    f"{known[1]} and {files.get(name)} both define this runtime.",
                    "Rename one of the two runtimes.",
                )

    def define(self, defined: Mapping[str, OwnRuntime], files: Mapping[str, str]) -> None:
        """Add or replace definitions, and save them. Other definitions stay, because sessions may
        use them.

        Raises `OsProblem` without a change if the disk cannot be written.
        """
        added = {name: (definition, files.get(name, "")) for name, definition in defined.items()}
        if all(self._known.get(name) == definition for name, definition in added.items()):
            return
        known = {**self._known, **added}
        self._write(known)
        self._known = known

    def recall(self) -> None:
        """Read the definitions that an earlier supervisor saved; skip invalid definitions."""
        if self._kept is None:
            return
        with suppress(OSError, ValueError):
            held = json.loads(self._kept.read_bytes())
            for name, saved in held.items() if isinstance(held, dict) else ():
                with suppress(ValueError, TypeError):  # not a pair, or not a valid definition
                    written, file = saved
                    if NAME_PATTERN.fullmatch(name):
                        self._known[name] = OwnRuntime.model_validate(written), str(file)

    def _write(self, known: Mapping[str, tuple[OwnRuntime, str]]) -> None:
        if self._kept is None:
            return
        written = {
            name: [definition.model_dump(mode="json", exclude_unset=True), file]
            for name, (definition, file) in known.items()
        }
        try:
            write_private(self._kept, json.dumps(written).encode())
        except OSError as error:
            raise OsProblem(
                "Cannot save the configured runtimes",
                f"{self._kept}: {error.strerror or error}.",
                "Free some space, or make the folder writable.",
            ) from error

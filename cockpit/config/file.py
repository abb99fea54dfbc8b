"""Read one configuration file safely and parse it as TOML.

A file that others can write, or that another user except root owns, could make cockpit run any
program. Such a file is refused with `BadConfig`; the error has the command that fixes the problem.
Reading never writes and never blocks.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from cockpit.config.bounds import excess
from cockpit.config.lines import KeyPath, Lines, lines_of
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadConfig
from cockpit.core.ids import NAME_PATTERN

LARGEST_FILE = 1024 * 1024
"""Maximum bytes of a configuration file. A hundred agents with long prompts need a few hundred
kilobytes."""
LARGEST_FOUND = 64 * 1024
"""Maximum bytes of a configuration file that cockpit finds in a project. Anybody may have written
that file."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One parsed file: plain TOML data, and the line of each key."""

    path: Path
    """Absolute path of the file, given by the user or found by cockpit."""
    data: Mapping[str, Any]
    lines: Lines
    digest: str
    """SHA-256 of the parsed bytes, in hex. Trust in a file is stored with this hash."""
    old_places: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """Maps the current key path of each value set through an alias to its key path in the file."""
    text: str = field(default="", repr=False)
    """The full text, for code that writes the file back with changes."""
    on_disk: ConfigFile | None = field(default=None, repr=False)
    """The saved file, if this text is changed and not saved yet; else None. Errors show the saved
    file's lines."""

    def line_of(self, path: KeyPath) -> int:
        """Return the line of a key that the file has under its current name or an alias. See
        `Lines.of`."""
        for length in range(len(path), 0, -1):
            if old := self.old_places.get(path[:length]):
                return self.lines.of(old)
        return self.lines.of(path)

    def exact_line(self, path: KeyPath) -> int | None:
        """Return the line of this key itself, perhaps written as an alias; None if the file does
        not have the key."""
        return self.lines.exactly(self.written_as(path))

    def shown_line(self, path: KeyPath) -> int | None:
        """Return the line to show in an error; None for a key that only an unsaved change added."""
        return self.line_of(path) if self.on_disk is None else self.on_disk.exact_line(path)

    def refusal(self, path: KeyPath, problem: str, hint: str = "", detail: str = "") -> BadConfig:
        """Return the error that points at a key of this file."""
        line = self.shown_line(path)
        where = shown_path(self.path) if line is None else f"{shown_path(self.path)}:{line}"
        key = self.shown_key(self.written_as(path))
        return BadConfig(
            f"{where}: {key}: {problem}" if key else f"{where}: {problem}", detail, hint
        )

    def shown_key(self, path: KeyPath) -> str:
        """Return a key with the name of its agent or host: `agents.api.mode`.

        If the name is invalid or used twice, the key has the entry's number instead:
        `agents[2].mode`. The key of the name itself always has the number: `agents[2].name`.
        """
        match path:
            case (str(table), int(place), *rest) if table in ("agents", "hosts") and rest:
                entries = self.data.get(table)
                names = [_name_of(entry) for entry in entries] if isinstance(entries, list) else []
                name = names[place] if place < len(names) else None
                if name is not None and names.count(name) == 1 and rest != ["name"]:
                    return f"{table}.{name}.{dotted(tuple(rest))}"
        return dotted(path)

    def written_as(self, path: KeyPath) -> KeyPath:
        """Return the key's path as the file has it, possibly an alias."""
        return self.old_places.get(path, path)


def read_config_file(path: Path, *, follow_links: bool, largest: int = LARGEST_FILE) -> ConfigFile:
    """Open, check and parse one file, up to a size limit in bytes. Raises `BadConfig`.

    `follow_links` is for the user's own file and files that the user named. A symlink that cockpit
    finds in a repository is refused.
    """
    return config_file_of(path, _owned_bytes(path, largest, follow_links=follow_links))


def config_file_of(path: Path, raw: bytes) -> ConfigFile:
    """Parse bytes that are already read. Raises `BadConfig`."""
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadConfig(
            f"{shown_path(path)}:{line}: not UTF-8",
            f"Byte {error.start} is not valid UTF-8; TOML files are always UTF-8.",
            "Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadConfig(
            f"{shown_path(path)}:{line}: a NUL byte; this is not a text file",
            hint="Save the file as plain UTF-8 text.",
        )
    digest = hashlib.sha256(raw).hexdigest()
    return ConfigFile(path, _parsed(path, text), lines_of(text), digest, text=text)


def shown_path(path: Path) -> str:
    """Return the path as text; a path with unprintable characters is quoted and escaped."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _name_of(entry: object) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and NAME_PATTERN.fullmatch(name) else None


def dotted(path: KeyPath) -> str:
    """Return a key path as text, such as `agents[2].mode`; indexes count from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            plain = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            text += ("." if text else "") + (part if plain else ascii(part))
    return text


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if (beyond := excess(text)) is not None:
        line, reason = beyond
        raise BadConfig(f"{shown_path(path)}:{line}: {reason}", "", "Simplify the file.")
    try:
        return tomllib.loads(text)
    # Values that TOML's grammar allows but Python rejects also raise ValueError.
    except ValueError as error:
        message = str(error)
        position = re.search(r" \(at line (\d+), column (\d+)\)", message)
        line = int(position[1]) if position else max(1, len(text.splitlines()))
        reason = re.sub(r" \(at (line \d+, column \d+|end of document)\)", "", message)
        where = f", at column {position[2]}" if position else ", at the end of the file"
        raise BadConfig(
            f"{shown_path(path)}:{line}: not valid TOML",
            f"{ascii(reason)[1:-1]}{where}.",
            "Strings need quotes; a [table] header needs its own line.",
        ) from None
    except RecursionError:
        raise BadConfig(
            f"{shown_path(path)}:1: nested too deeply",
            hint="Use fewer levels of tables and arrays.",
        ) from None


def _owned_bytes(path: Path, largest: int, *, follow_links: bool) -> bytes:
    shown = shown_path(path)
    # Without O_NONBLOCK, opening a named pipe would block forever.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if path.is_symlink() and not follow_links:
            raise BadConfig(
                f"{shown}: is a symbolic link",
                "A repository's configuration must be a regular file in the repository.",
                "To use the file that the link points to, pass that file with --config.",
            ) from None
        raise BadConfig(
            f"{shown}: cannot be read",
            error.strerror or str(error),
            hint="Check the path and its permissions.",
        ) from None
    try:
        _check(path, os.fstat(handle))
        with os.fdopen(handle, "rb", closefd=False) as stream:
            raw = stream.read(largest + 1)
    except OSError as error:
        raise BadConfig(
            f"{shown}: cannot be read",
            error.strerror or str(error),
            hint="Check the path and its permissions.",
        ) from None
    finally:
        os.close(handle)
    if len(raw) > largest:
        named = "" if largest == LARGEST_FILE else f" Or pass the file with --config {shown}"
        raise BadConfig(
            f"{shown}: too large",
            f"The limit for a {'project ' if named else ''}configuration is {largest // 1024} KiB.",
            f"Move long prompts to files and use prompt_file.{named}",
        )
    return raw


def _check(path: Path, entry: os.stat_result) -> None:
    shown = shown_path(path)
    if not stat.S_ISREG(entry.st_mode):
        raise BadConfig(f"{shown}: not a regular file", hint="Choose a regular file.")
    if entry.st_uid not in (os.geteuid(), 0):
        raise BadConfig(
            f"{shown}: belongs to another user",
            f"The file's owner is user {entry.st_uid}; cockpit reads only your files and root's.",
            f"Read the file, then: sudo chown {os.geteuid()} {shown}",
        )
    if entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadConfig(
            f"{shown}: other users can write to it",
            "Anyone who can write this file can make cockpit run any program.",
            f"chmod go-w {shown}",
        )

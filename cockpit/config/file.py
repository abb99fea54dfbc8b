"""One configuration file, taken from the disk with care and parsed; nothing is understood yet.

A file that others can write, or that somebody else owns, could make cockpit run anything: it is
refused with the command that puts it right. Reading never writes and never blocks.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cockpit.config.lines import KeyPath, Lines, lines_of
from cockpit.core.errors import BadConfig

LARGEST_FILE = 1024 * 1024
"""Bytes. A configuration of a hundred agents with long prompts has some hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What one file says, as plain TOML data, and where it says it."""

    path: Path
    """Absolute, as it was named or found."""
    data: Mapping[str, Any]
    lines: Lines
    digest: str
    """SHA-256 of the bytes that were parsed, in hex: what trust is given to."""
    old_places: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """Where a value stands in the file that was written under a founding name."""
    text: str = field(default="", repr=False)
    """The whole of it, for whoever writes it again with a change."""
    on_disk: ConfigFile | None = field(default=None, repr=False)
    """Where this is only what a file would be: the file as it is, whose lines alone are told."""

    def line_of(self, path: KeyPath) -> int:
        """The line of a key, whichever name it was written under."""
        for length in range(len(path), 0, -1):
            if old := self.old_places.get(path[:length]):
                return self.lines.of(old)
        return self.lines.of(path)

    def standing_line(self, path: KeyPath) -> int | None:
        """The line that has exactly this key, under whichever name; None where none has."""
        return self.lines.exactly(self.written_as(path))

    def told_line(self, path: KeyPath) -> int | None:
        """The line that a refusal may name: one that a pilot finds when looking for it."""
        return self.line_of(path) if self.on_disk is None else self.on_disk.standing_line(path)

    def refusal(self, path: KeyPath, problem: str, hint: str = "", detail: str = "") -> BadConfig:
        """The error that points at a key of this file."""
        line = self.told_line(path)
        where = shown_path(self.path) if line is None else f"{shown_path(self.path)}:{line}"
        key = dotted(self.written_as(path))
        return BadConfig(
            f"{where}: {key}: {problem}" if key else f"{where}: {problem}", detail, hint
        )

    def written_as(self, path: KeyPath) -> KeyPath:
        """The path as the file has it, founding names included."""
        return self.old_places.get(path, path)


def read_config_file(path: Path, *, follow_links: bool) -> ConfigFile:
    """Open, check and parse one file. Raises `BadConfig`.

    `follow_links` is for files that the pilot named or keeps; what a repository holds must be a
    plain file in the repository.
    """
    return config_file_of(path, _owned_bytes(path, follow_links=follow_links))


def config_file_of(path: Path, raw: bytes) -> ConfigFile:
    """The same of bytes that are there already. Raises `BadConfig`."""
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadConfig(
            f"{shown_path(path)}:{line}: not UTF-8",
            f"Byte {error.start} cannot be read; TOML files are always UTF-8.",
            "Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadConfig(f"{shown_path(path)}:{line}: a NUL byte; this is no text file")
    digest = hashlib.sha256(raw).hexdigest()
    return ConfigFile(path, _parsed(path, text), lines_of(text), digest, text=text)


def shown_path(path: Path) -> str:
    """A path as it may be printed: one that could move a cursor is escaped."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def dotted(path: KeyPath) -> str:
    """A key path in TOML's own spelling; places in arrays count from 1, as people do."""
    words = ""
    for part in path:
        if isinstance(part, int):
            words += f"[{part + 1}]"
        else:
            plain = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            words += ("." if words else "") + (part if plain else ascii(part))
    return words


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = re.search(r" \(at line (\d+), column (\d+)\)", said)
        line = int(found[1]) if found else max(1, len(text.splitlines()))
        reason = re.sub(r" \(at (line \d+, column \d+|end of document)\)", "", said)
        where = f", at column {found[2]}" if found else ", at the end of the file"
        raise BadConfig(
            f"{shown_path(path)}:{line}: not valid TOML",
            f"{ascii(reason)[1:-1]}{where}.",
            "Strings need quotes, a [table] header stands on a line of its own.",
        ) from None
    except RecursionError:
        raise BadConfig(f"{shown_path(path)}:1: nested too deeply") from None


def _owned_bytes(path: Path, *, follow_links: bool) -> bytes:
    shown = shown_path(path)
    # Without O_NONBLOCK a named pipe would hold us up for ever.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if path.is_symlink() and not follow_links:
            raise BadConfig(
                f"{shown}: a symbolic link",
                "The configuration of a repository must be a file in the repository.",
                "Name it with --config if you mean the file it points to.",
            ) from None
        raise BadConfig(f"{shown}: cannot be read", error.strerror or str(error)) from None
    try:
        _check(path, os.fstat(handle))
        with os.fdopen(handle, "rb", closefd=False) as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise BadConfig(f"{shown}: cannot be read", error.strerror or str(error)) from None
    finally:
        os.close(handle)
    if len(raw) > LARGEST_FILE:
        raise BadConfig(
            f"{shown}: too large",
            f"A configuration has at most {LARGEST_FILE // 1024} KiB.",
            "Put long prompts into files and name them with prompt_file.",
        )
    return raw


def _check(path: Path, found: os.stat_result) -> None:
    shown = shown_path(path)
    if not stat.S_ISREG(found.st_mode):
        raise BadConfig(f"{shown}: not a file")
    if found.st_uid not in (os.geteuid(), 0):
        raise BadConfig(
            f"{shown}: belongs to somebody else",
            f"Its owner is user {found.st_uid}; only your own files and root's are read.",
            f"chown {os.geteuid()} it, once you have read it.",
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadConfig(
            f"{shown}: others can write it",
            "Whoever writes this file decides what cockpit runs.",
            f"chmod go-w {shown}",
        )

"""Writing down what to start in a pane, for `launcher.py` to read.

An order is a file of NUL-terminated fields, so that every byte of a prompt or a variable arrives
as it was. Nothing in it is ever an argument of the multiplexer or read by a shell. Starts nothing.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.launcher import MAGIC
from cockpit.adapters.private_file import write_private
from cockpit.core.errors import BadUsage, Hindered
from cockpit.ports.panes import Launch

LONGEST_ARGUMENT = 120_000
"""Bytes. Linux refuses an argument of 128 KB, and it says so nowhere that a pilot would see."""

_IN_A_FILE = "Read the file {} and do what it says."

LAUNCHER = Path(__file__).with_name("launcher.py")


class LaunchOrders:
    """A private folder of orders and of the prompts that are too long to be arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, launch: Launch, *, kept_as: str | None = None) -> list[str]:
        """Write the order; answer the argument vector that carries it out, once.

        `kept_as` names an order that stays and can be carried out again. Raises `BadUsage` for a
        launch that no process can be started with, `Hindered` when it cannot be written.
        """
        self._make_folder()
        name = kept_as or secrets.token_hex(8)
        path = self.folder / f"{name}.order"
        self._write(path, b"".join(field + b"\0" for field in self._fields(launch)))
        keep = ["--keep"] if kept_as else []
        return [sys.executable, "-I", "-S", str(LAUNCHER), *keep, str(path)]

    def sweep(self, *, older_than: float = 0.0) -> None:
        """Remove what launches left more than so many seconds ago, once nothing of them lives."""
        youngest = time.time() - older_than
        for pattern in ("*.order", "prompt-*.md", ".*.tmp"):
            for path in self.folder.glob(pattern):
                with suppress(OSError):
                    if path.lstat().st_mtime <= youngest:
                        path.unlink()

    def _fields(self, launch: Launch) -> Iterator[bytes]:
        if not launch.argv:
            raise BadUsage("There is nothing to start", "The argument vector is empty.")
        yield MAGIC
        yield field(os.path.realpath(launch.directory))
        yield field(str(launch.lease.absolute()) if launch.lease else "")
        yield field(str(launch.claim.path.absolute()) if launch.claim else "")
        yield b"shared" if launch.claim and launch.claim.shared else b"alone"
        yield b"%d" % len(launch.environment)
        for name, value in launch.environment.items():
            if not name or "=" in name:
                raise BadUsage(f"{name!a} cannot be the name of a variable")
            yield field(f"{name}={value}")
        yield from (field(argument) for argument in launch.argv)
        if launch.prompt is not None:
            yield b"--"
            yield self._prompt(launch.prompt)

    def _prompt(self, prompt: str) -> bytes:
        raw = prompt.encode("utf-8", "replace").replace(b"\0", b"")
        if len(raw) <= LONGEST_ARGUMENT:
            return raw
        path = self.folder.absolute() / f"prompt-{secrets.token_hex(8)}.md"
        self._write(path, raw)
        return field(_IN_A_FILE.format(path))

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Hindered(f"Cannot make {self.folder}", str(error.strerror)) from error

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_private(path, content)
        except OSError as error:
            raise Hindered(
                "The launch could not be written down",
                f"{path}: {error.strerror}",
                "Free some space, or make the folder writable.",
            ) from error


def prompt_file(prompt: str) -> Path | None:
    """The file that a prompt was put into because it was too long; None when it was not."""
    before, after = map(re.escape, _IN_A_FILE.split("{}"))
    found = re.fullmatch(rf"{before}(/.*/prompt-[0-9a-f]{{16}}\.md){after}", prompt)
    return Path(found[1]) if found else None


def field(text: str) -> bytes:
    """One field of an order, byte for byte as the operating system means it."""
    raw = text.encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        raise BadUsage("A NUL byte cannot be passed to a program", repr(text[:60]))
    return raw

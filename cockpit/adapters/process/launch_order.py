"""Write launch files, which tell `launcher.py` what to start in a pane.

A launch file contains NUL-terminated fields, so that a prompt or a variable can contain every byte
but NUL. No part of the file becomes a tmux argument or is read by a shell. Starts no process.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.process.launcher import MAGIC
from cockpit.adapters.process.prompt_files import make_private_folder
from cockpit.core.errors import BadUsage, OsProblem
from cockpit.core.prompt_files import IN_A_FILE, IN_A_FILE_FOR_CAT, can_be_mentioned
from cockpit.ports.panes import Launch

LONGEST_ARGUMENT = 120_000
"""Maximum bytes of an argument. Linux refuses 128 KB, without a message for the user."""

LONGEST_PIECE = 20_000
"""Maximum bytes of a prompt file that the first prompt mentions: Claude Code skips files of more
than 25,000 tokens."""

MOST_LINES = 1_000
"""Maximum lines of a prompt file that the first prompt mentions: Claude Code truncates files at
2,000 lines."""

_LINE_END = re.compile(rb"\n")

LAUNCHER = Path(__file__).with_name("launcher.py")


class LaunchOrders:
    """A private folder of launch files. Prompt files are written to `Launch.prompt_folder`, or to
    this folder without one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, launch: Launch, *, kept_as: str | None = None) -> list[str]:
        """Write the launch file; return the argument vector that launches it once.

        With `kept_as`, the launch file gets this name, and can be launched again. Raises `BadUsage`
        for a launch with which no process can be started, and `OsProblem` if the file cannot be
        written.
        """
        self._make(self.folder)
        name = kept_as or secrets.token_hex(8)
        path = self.folder / f"{name}.order"
        self._write(path, b"".join(field + b"\0" for field in self._fields(launch)))
        keep = ["--keep"] if kept_as else []
        return [sys.executable, "-I", "-S", str(LAUNCHER), *keep, str(path)]

    def sweep(self, *, older_than: float = 0.0) -> None:
        """Remove launch, prompt and temporary files written at least `older_than` seconds ago."""
        youngest = time.time() - older_than
        for pattern in ("*.order", "prompt-*.md", ".*.tmp"):
            for path in self.folder.glob(pattern):
                with suppress(OSError):
                    if path.lstat().st_mtime <= youngest:
                        path.unlink()

    def _fields(self, launch: Launch) -> Iterator[bytes]:
        if not launch.argv:
            raise BadUsage(
                "Nothing to start",
                "The argument vector is empty.",
                hint="Pass a program: cockpit start NAME -- COMMAND",
            )
        yield MAGIC
        yield field(os.path.realpath(launch.directory))
        yield field(str(launch.lease.absolute()) if launch.lease else "")
        yield field(str(launch.claim.path.absolute()) if launch.claim else "")
        yield b"shared" if launch.claim and launch.claim.shared else b"alone"
        yield b"%d" % len(launch.environment)
        for name, value in launch.environment.items():
            if not name or "=" in name:
                raise BadUsage(
                    f"{name!a} is not a valid variable name",
                    hint="Correct the name in env, in cockpit.toml.",
                )
            yield field(f"{name}={value}")
        yield from (field(argument) for argument in launch.argv)
        if launch.prompt_file is not None:
            self._make(launch.prompt_file.parent)
            self._write(launch.prompt_file, _bytes(launch.prompt or ""))
        elif launch.prompt is not None:
            option = field(launch.prompt_option)
            if not option:
                yield b"--"
            yield option + self._prompt(launch.prompt, launch)

    def _prompt(self, prompt: str, launch: Launch) -> bytes:
        """Return a sentence that mentions private files with the prompt, or the prompt itself.

        Every user of the machine can read a process's arguments. So only a short prompt is an
        argument: a slash command without secrets, or the prompt of a program that cannot read it
        from a file.
        """
        raw = _bytes(prompt)
        is_long = len(raw) > LONGEST_ARGUMENT
        folder = (launch.prompt_folder or self.folder).absolute()
        if launch.mention and can_be_mentioned(str(folder)):
            if is_long or not launch.literal or _is_secret(launch):
                return field(launch.mention(list(self._prompt_files(folder, _pieces(raw)))))
        elif is_long or launch.by_file:
            (path,) = self._prompt_files(folder, [raw])
            return field((IN_A_FILE_FOR_CAT if launch.by_cat else IN_A_FILE).format(path))
        return raw

    def _prompt_files(self, folder: Path, pieces: Iterable[bytes]) -> Iterator[Path]:
        self._make(folder)
        for piece in pieces:
            path = folder / f"prompt-{secrets.token_hex(8)}.md"
            self._write(path, piece)
            yield path

    def _make(self, folder: Path) -> None:
        try:
            make_private_folder(folder)
        except OSError as error:
            raise OsProblem(
                f"Cannot create {folder}",
                str(error.strerror),
                hint="Check the free disk space and the folder's permissions.",
            ) from error

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_private(path, content)
        except OSError as error:
            raise OsProblem(
                "Cannot write a file for the launch",
                f"{path}: {error.strerror}",
                "Free some space, or make the folder writable.",
            ) from error


def _bytes(prompt: str) -> bytes:
    return prompt.encode("utf-8", "replace").replace(b"\0", b"")


def _is_secret(launch: Launch) -> bool:
    # Imported here, because the screen and the terminals' clients need only the rest of the module.
    from cockpit.core.redaction import Redactor, secret_values

    return bool(Redactor(secret_values(launch.environment)).findings(launch.prompt or ""))


def _pieces(prompt: bytes) -> Iterator[bytes]:
    """Split the prompt at line breaks into pieces of at most `LONGEST_PIECE` bytes and `MOST_LINES`
    lines.

    A line that is too long is split between two characters.
    """
    while prompt:
        end = min(len(prompt), LONGEST_PIECE)
        lines = [match.end() for match in islice(_LINE_END.finditer(prompt, 0, end), MOST_LINES)]
        if len(lines) == MOST_LINES:
            end = lines[-1]
        elif end < len(prompt):
            end = lines[-1] if lines else _between_characters(prompt, end)
        yield prompt[:end]
        prompt = prompt[end:]


def _between_characters(text: bytes, end: int) -> int:
    while text[end] & 0xC0 == 0x80:
        end -= 1
    return end


def field(text: str) -> bytes:
    """Return one field of a launch file, in UTF-8. Raises `BadUsage` for a NUL byte."""
    raw = text.encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        raise BadUsage(
            "Cannot pass a NUL byte to a program",
            repr(text[:60]),
            hint="Remove the NUL byte from the prompt, the arguments or the environment.",
        )
    return raw

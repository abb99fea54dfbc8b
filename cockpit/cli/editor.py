"""Open a file in the user's editor, at a line if cockpit knows the editor's option for that."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from cockpit.core.errors import ProgramMissing
from cockpit.core.safetext import quoted

PLUS_LINE = frozenset({
    "vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe",
    "jed", "mg", "ne", "gedit",
})  # fmt: skip
"""Editors that take the line as `+LINE` before the file."""
AFTER_COLON = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that take the line as `FILE:LINE`."""
WITH_OPTION = frozenset({"code", "code-insiders", "codium", "cursor"})
"""Editors that take the line as `-g FILE:LINE`."""

HINT = "Set VISUAL or EDITOR to your editor."


async def edit(file: Path, line: int = 1) -> None:
    """Open a file in `$VISUAL`, `$EDITOR` or vi, in this terminal; return when the editor ends.

    `line` counts from 1, and is not passed to an editor that cockpit does not know. Raises
    `ProgramMissing` if the editor cannot be started.
    """
    argv = at_line(_command(), str(file), line)
    try:
        process = await asyncio.create_subprocess_exec(*argv)
    except OSError as error:
        raise ProgramMissing(f"Cannot start the editor {argv[0]}", str(error), HINT) from error
    await process.wait()


def _command() -> list[str]:
    """Return the editor's command as arguments. Raises `ProgramMissing` if it is invalid."""
    names = (name for name in ("VISUAL", "EDITOR") if os.environ.get(name))
    name = next(names, None)
    if name is None:
        return ["vi"]
    try:
        words = shlex.split(os.environ[name])
    except ValueError as error:
        detail = f"{quoted(os.environ[name], 80)} cannot be split into words: {error}."
        raise ProgramMissing(f"{name} is not a command", detail, HINT) from error
    if not words or not words[0]:
        raise ProgramMissing(
            f"{name} is not a command", f"The value of {name} contains no program.", HINT
        )
    return words


def at_line(editor: Sequence[str], file: str, line: int) -> list[str]:
    """Return the command that opens a file at a line, or without a line in an unknown editor."""
    name = Path(editor[0]).name
    if line <= 1:
        return [*editor, file]
    if name in PLUS_LINE:
        return [*editor, f"+{line}", file]
    if name in AFTER_COLON:
        return [*editor, f"{file}:{line}"]
    if name in WITH_OPTION:
        return [*editor, "-g", f"{file}:{line}"]
    return [*editor, file]

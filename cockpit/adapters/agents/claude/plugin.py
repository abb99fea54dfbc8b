"""The plugin that an agent's Claude Code is started with: `/cockpit:handoff` and its sister.

Copied into the state folder, so that running agents keep it however the package moves, together
with a `cockpit` of this very installation, which the CLI puts on the PATH of its shells. It has
no hooks: those are in the settings, and would otherwise run twice.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from cockpit.adapters.files.private_file import write_private

SOURCE = Path(__file__).parents[3] / "plugin"
OUR_OWN = "bin/cockpit"
"""The one file that is not copied but made."""


def install_plugin(state: Path) -> Path:
    """Put the plugin where running agents find it; its folder. Writes only what differs."""
    folder = state / "plugin"
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content, mode in _files():
        path = folder / name
        if _is(path, content):
            continue
        for parent in [folder, *reversed(path.relative_to(folder).parents[:-1])]:
            (folder / parent).mkdir(exist_ok=True, mode=0o700)  # parents=True would forget the mode
        write_private(path, content)
        path.chmod(mode)
    return folder


def launcher() -> str:
    """A script that is this installation's `cockpit`, whatever PATH and directory it is run in."""
    command = shlex.join([sys.executable, "-P", "-m", "cockpit"])
    return f'#!/bin/sh\nexec {command} "$@"\n'


def _files() -> Iterator[tuple[str, bytes, int]]:
    for source in sorted(SOURCE.rglob("*")):
        if source.is_file():
            executable = source.parent.name == "bin"
            name = source.relative_to(SOURCE).as_posix()
            yield name, source.read_bytes(), 0o700 if executable else 0o600
    yield OUR_OWN, launcher().encode(), 0o700


def _is(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content and (
            path.parent.name != "bin" or os.access(path, os.X_OK)
        )
    except OSError:
        return False

"""Install the plugin that an agent's Claude Code loads: `/cockpit:handoff` and a second command.

The plugin is copied into the state folder, so that running agents keep it when the package moves. A
`cockpit` script for this installation is added; the CLI puts it on the PATH of its shells. The
plugin has no hooks: the settings have them, and they would run twice.
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
"""The only file that is generated instead of copied."""


def install_plugin(state: Path) -> Path:
    """Install the plugin where running agents find it; return its folder. Writes only changes."""
    folder = state / "plugin"
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content, mode in _files():
        path = folder / name
        if _is(path, content):
            continue
        for parent in [folder, *reversed(path.relative_to(folder).parents[:-1])]:
            (folder / parent).mkdir(exist_ok=True, mode=0o700)  # parents=True would ignore the mode
        write_private(path, content)
        path.chmod(mode)
    return folder


def launcher() -> str:
    """Return a script that runs this installation's `cockpit` from any PATH and directory."""
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

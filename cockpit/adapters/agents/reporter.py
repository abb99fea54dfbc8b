"""Install the reporter, the script that an agent's CLI runs as its hooks."""

from __future__ import annotations

import os
from pathlib import Path

REPORTER = "reporter.sh"


def install_reporter(state: Path) -> Path:
    """Copy the reporter to the state folder, so that running agents can still use it after
    cockpit's package is moved.

    Returns the copy's path. Atomic; writes nothing if the copy is already up to date.
    """
    source = Path(__file__).parents[2] / REPORTER
    content = source.read_bytes()
    target = state / REPORTER
    try:
        if target.read_bytes() == content and os.access(target, os.X_OK):
            return target
    except OSError:
        pass
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(target, content, 0o700)
    return target


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """Write a file with this content and mode atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
    temporary.replace(path)

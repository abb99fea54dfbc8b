"""Private folders for the time of a call of git, for configurations and indexes of ours.

A folder is deleted when its call is over; what a killed supervisor left, by the next one.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

PREFIX = "cockpit-git-"


def make_scratch(private: Path | None) -> Path:
    """A new folder, to be deleted by the caller, in `private`, which is made if missing.

    None is the system's folder for temporary files. Raises `OSError`. Blocks.
    """
    if private is not None:
        private.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=private))


@asynccontextmanager
async def scratch(private: Path | None) -> AsyncIterator[Path]:
    """The same, deleted after the block."""
    folder = await asyncio.to_thread(make_scratch, private)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def prune_scratch(private: Path) -> int:
    """Delete what killed calls left in `private`; how many there were. Blocks.

    Only for the one process that uses `private`, before its first call.
    """
    found: list[Path] = []
    with suppress(OSError):
        found = [path for path in private.iterdir() if path.name.startswith(PREFIX)]
    for path in found:
        # The links in it to a repository are deleted, and never followed.
        shutil.rmtree(path, ignore_errors=True)
    return len(found)

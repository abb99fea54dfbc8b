"""Temporary private folders for one git call, for configurations and indexes.

A folder is deleted after its call. The next supervisor deletes folders that a killed supervisor
left.
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
    """Create a temporary folder in `private`, which is created if missing. The caller deletes the
    folder.

    If `private` is None, uses the system's folder for temporary files. Raises `OSError`. Blocks.
    """
    if private is not None:
        private.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=private))


@asynccontextmanager
async def scratch(private: Path | None) -> AsyncIterator[Path]:
    """Create a folder like `make_scratch`, and delete it after the `async with` block."""
    folder = await asyncio.to_thread(make_scratch, private)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def prune_scratch(private: Path) -> int:
    """Delete folders that killed calls left in `private`; return their number. Blocks.

    Call this only in the process that uses `private`, before its first git call.
    """
    leftovers: list[Path] = []
    with suppress(OSError):
        leftovers = [path for path in private.iterdir() if path.name.startswith(PREFIX)]
    for path in leftovers:
        # Links to a repository are deleted, never followed.
        shutil.rmtree(path, ignore_errors=True)
    return len(leftovers)

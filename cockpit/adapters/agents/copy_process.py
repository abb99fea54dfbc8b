"""Start a CLI that answers a question as a copy of a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cockpit.adapters.process.descriptors import with_given_limit
from cockpit.core.errors import Failed

_LINE = 64 * 1024


async def start_copy(
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    *,
    stdout: int = asyncio.subprocess.PIPE,
    stderr: int = asyncio.subprocess.PIPE,
    limit: int = _LINE,
) -> asyncio.subprocess.Process:
    """Start a CLI in a process group of its own, with a pipe as stdin.

    Raises `Failed` if the CLI cannot be started: its program may have been removed or updated after
    the probe. `limit` is the maximum length of an output line in bytes.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *with_given_limit(arguments),
            cwd=directory,
            env=dict(environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            limit=limit,
        )
    except OSError as error:
        raise Failed(
            "Cannot start a copy of the session",
            f"{os.fsdecode(error.filename or arguments[0])}: {error.strerror}.",
            "Check that the agent's CLI is installed: cockpit doctor",
        ) from error

"""The process of one browser tab; its program uses the protocol of `tab.py`."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

from textual_serve.app_service import AppService

PATIENCE = 3.0
"""Seconds within which a tab's process must exit by itself; then it is killed."""


class Tab(AppService):
    """One tab's process, which runs `argv`."""

    argv: Sequence[str] = ()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # In a new session, so that Ctrl-C in the server's terminal affects the server only.
        self._process = await asyncio.create_subprocess_exec(
            *self.argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, "COLUMNS": str(width), "LINES": str(height)},
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    async def ended(self) -> None:
        """Wait until the process closes its output."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """End the process, and wait for its end; kill it after `PATIENCE`. Idempotent."""
        process = self._process
        if process is None:
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await self.stop()
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

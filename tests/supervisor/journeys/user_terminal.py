"""A session of a CLI that the user started in a tmux of their own, and cockpit's list of it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cockpit.wire.status import ElsewhereSession
from tests.supervisor.journeys.cli_model import SLOW

if TYPE_CHECKING:
    from cockpit.supervisor.supervisor import Supervisor
    from tests.supervisor.conftest import Cockpit

Tmux = Callable[..., str]


@contextmanager
def user_terminal(cockpit: Cockpit, command: str) -> Iterator[Tmux]:
    """The user's own tmux, in which a command runs. Its shell goes on after the command."""
    socket = cockpit.home / "user.tmux"

    def tmux(*words: str) -> str:
        asked = ["tmux", "-S", str(socket), "-f", "/dev/null", *words]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout

    words = ["sh", "-c", f"{command}; exec cat"]
    tmux("new-session", "-d", "-x", "200", "-y", "40", "-c", str(cockpit.repository), *words)
    try:
        yield tmux
    finally:
        tmux("kill-server")


async def listed(
    supervisor: Supervisor, true: Callable[[ElsewhereSession], object]
) -> ElsewhereSession:
    """The only session, once the condition holds of it."""
    async with asyncio.timeout(SLOW):
        async for rows in supervisor.elsewhere.follow():
            if rows and true(rows[0]):
                break
    (row,) = rows
    return row

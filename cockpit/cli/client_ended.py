"""What is said in a terminal whose tmux client has ended badly: what is left, and how to go on.

Says nothing where the tmux server lives: then the client itself has said what was wrong.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from cockpit.cli.places import our_places
from cockpit.cli.speech import say
from cockpit.client.quick import fetch
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line

PATIENCE = 3.0
"""Seconds that the supervisor has to see the end of every agent."""
LOOK = 0.1


def tell(code: int) -> int:
    """Answers the exit code that was the client's."""
    places = our_places()
    if not _lives(places):
        say("cockpit: its tmux server has ended, and with it the screen and every agent's pane")
        for line in _agents(places):
            say(f"  {line}")
        say("  The fleet again: cockpit")
    return code


def _lives(places: Places) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(PATIENCE)
        try:
            channel.connect(str(places.tmux_socket))
        except OSError:
            return False
    return True


def _agents(places: Places) -> list[str]:
    """Each agent that was there, with what its row says of it now."""
    try:
        rows = _settled(places)
    except CockpitError as error:
        return [f"{error.title}; agents' worktrees and sessions are kept."]
    return [_line(row) for row in rows if row.get("session_id")]


def _settled(places: Places) -> list[dict[str, Any]]:
    """The rows once no process is on them any more, or at the end of patience."""
    end = time.monotonic() + PATIENCE
    while True:
        rows: list[dict[str, Any]] = json.loads(fetch(places.socket, "/v1/status"))["agents"]
        if not any(row.get("pid") for row in rows) or time.monotonic() > end:
            return rows
        time.sleep(LOOK)


def _line(row: dict[str, Any]) -> str:
    name, state, session = (safe_line(str(row[key]), 40) for key in ("name", "state", "session_id"))
    if row.get("pid"):
        return f"{name}: {state}"
    return f"{name}: {state}; go on in its session: cockpit start {name} --resume {session}"

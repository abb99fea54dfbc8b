"""After a tmux client exited with an error, list the agents and the commands to continue.

Prints nothing if the tmux server is still running, because the client has then printed the cause.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.client.raw_request import fetch
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line

WAIT_SECONDS = 3.0
"""Maximum seconds to wait until the supervisor has noticed that every agent has ended."""
POLL_SECONDS = 0.1


def report_client_end(code: int) -> int:
    """Print a report if the tmux server has exited. Return `code`, the client's exit code."""
    places = our_places()
    if not _server_runs(places):
        say("cockpit: the tmux server exited, which ended the screen and every agent's pane")
        for line in _agent_lines(places):
            say(f"  {line}")
        say("  To start again: cockpit")
    return code


def _server_runs(places: Places) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(WAIT_SECONDS)
        try:
            channel.connect(str(places.tmux_socket))
        except OSError:
            return False
    return True


def _agent_lines(places: Places) -> list[str]:
    """Return one line for each agent that has a session. If the supervisor does not answer, returns
    the error."""
    try:
        rows = _wait_until_ended(places)
    except CockpitError as error:
        return [f"{error.title}; worktrees and sessions are kept."]
    return [_line(row) for row in rows if row.get("session_id")]


def _wait_until_ended(places: Places) -> list[dict[str, Any]]:
    """Wait until no agent has a process, at most `WAIT_SECONDS`. Return the agents."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        rows: list[dict[str, Any]] = json.loads(fetch(places.socket, "/v1/status"))["agents"]
        if not any(row.get("pid") for row in rows) or time.monotonic() > end:
            return rows
        time.sleep(POLL_SECONDS)


def _line(row: dict[str, Any]) -> str:
    name, state, session = (safe_line(str(row[key]), 40) for key in ("name", "state", "session_id"))
    if row.get("pid"):
        return f"{name}: {state}"
    # Report only that the process has ended; the screen shows an agent's other needs.
    state = "ended" if state in ("needs_you", "exited") else state
    return f"{name}: {state}; reopen its session: cockpit start {name} --resume {session}"

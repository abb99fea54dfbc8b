"""Attach this terminal to the private tmux server: cockpit's screen, or an agent's pane.

Execs a small shell that runs the tmux client, so that no Python process remains between the
keyboard and the pane. If the tmux server exits, the shell reports the exit.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from cockpit.adapters.tmux.outer_terminal import client_terminal
from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.cli.places import our_places
from cockpit.client.raw_request import fetch
from cockpit.config.paths import Places
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import PaneId, agent_name

if TYPE_CHECKING:
    from cockpit.adapters.remote_host import RemoteHost


CLIENT_SHELL = """\
cockpit=$1; shift
exec 3<&0
"$@" <&3 3<&- &
client=$!
exec 3<&-
trap 'ended=1; kill "$client" 2>/dev/null' TERM HUP
wait "$client"; code=$?
while kill -0 "$client" 2>/dev/null; do wait "$client"; code=$?; done
[ "$code" -eq 0 ] || [ -n "$ended" ] || exec "$cockpit" -P -m cockpit --client-ended "$code"
exit "$code"
"""
"""Run a tmux client in the foreground, and forward TERM and HUP to it. If the client fails without
such a signal, exec `cockpit --client-ended`. All variable parts are passed as arguments; the shell
does not evaluate them."""


def attach(name: str, *, aside: bool = False) -> NoReturn:
    """Show the agent's pane in this terminal; never returns. Raises the supervisor's errors.

    With `aside`, the key that leaves the pane (`pane.back`) always detaches, even while cockpit's
    screen is open in the home window.
    """
    places = our_places()
    body = {"name": agent_name(name)}
    done = json.loads(fetch(places.socket, "/v1/attach", body=body))
    check_terminal()
    exec_client(places, PaneId(done["pane"]), aside=aside)


def attach_remote(host: RemoteHost, name: str) -> NoReturn:
    """Show the pane of an agent on another machine in this terminal; never returns."""
    from cockpit.cli.hosts import exec_remote

    check_terminal()
    exec_remote(host.attach_command(agent_name(name)))


def exec_client(places: Places, pane: PaneId | None, *, aside: bool = False) -> NoReturn:
    """Replace this process with a tmux client for `pane`; for None, for cockpit's screen.

    Raises `PaneGone` if there is no such pane, or no window with the screen.
    """
    argv = asyncio.run(views_of(places).attach_command(pane, os.environ, aside=aside))
    sys.stdout.flush()
    shell = ["/bin/sh", "-c", CLIENT_SHELL, "cockpit", sys.executable, *argv]
    os.execve(shell[0], shell, client_terminal(os.environ))


def views_of(places: Places) -> TmuxViews:
    """Return the `TmuxViews` that attaches terminals to this cockpit's tmux server."""
    return TmuxViews(Tmux(places.tmux_socket, places.tmux_config, os.environ))


def check_terminal() -> None:
    """Raise `BadUsage` without a full-screen terminal, and `NotNow` inside an agent's pane."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage(
            "This command needs a terminal",
            "Standard input or standard output is not a terminal.",
            "Without a terminal: cockpit status, cockpit events --follow",
        )
    if (term := os.environ.get("TERM", "")) in ("", "dumb", "unknown"):
        raise BadUsage(
            f"This terminal cannot show a full screen (TERM={term})",
            "A terminal of this type can only print line by line.",
            "Use: cockpit status --watch --plain. If TERM is wrong: TERM=xterm-256color cockpit",
        )
    if agent := os.environ.get("COCKPIT_AGENT"):
        raise NotNow(
            "This terminal is already inside cockpit",
            f"This terminal shows the pane of agent {agent!a}.",
            "To go back to cockpit's screen, press the key shown at the bottom right.",
        )

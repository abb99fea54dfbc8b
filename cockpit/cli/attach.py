"""Giving this terminal to the private tmux server: the cockpit's screen, or an agent's pane.

The last thing such a command does is to become the tmux client, with a shell of a megabyte behind
it: nothing of ours stands between the pilot's keys and the pane, and where the client ends because
the server did, somebody is left to say so.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from cockpit.adapters.around import client_terminal
from cockpit.adapters.tmux import Tmux
from cockpit.adapters.tmux_views import TmuxViews
from cockpit.cli.places import our_places
from cockpit.client.quick import fetch
from cockpit.config.paths import Places
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import PaneId, agent_name

if TYPE_CHECKING:
    from cockpit.adapters.far_host import FarHost


WAIT_AND_TELL = """\
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
"""Runs a tmux client in the terminal as its own, hands on what would end it, tells of a bad end.
Everything that varies is an argument, and nothing of it is read by the shell."""


def attach(name: str, *, aside: bool = False) -> NoReturn:
    """Become a terminal that shows the agent's pane. Raises what the supervisor refuses with.

    With `aside` the key that leads back leaves, although a screen is open in the home window.
    """
    places = our_places()
    body = {"name": agent_name(name)}
    done = json.loads(fetch(places.socket, "/v1/attach", body=body))
    check_terminal()
    become(places, PaneId(done["pane"]), aside=aside)


def attach_there(host: FarHost, name: str) -> NoReturn:
    """Become a terminal that shows an agent's pane on another machine."""
    from cockpit.cli.hosts import become_there

    check_terminal()
    become_there(host.attach_command(agent_name(name)))


def become(places: Places, pane: PaneId | None, *, aside: bool = False) -> NoReturn:
    """Become the tmux client that shows a pane, or the home window. Raises `PaneGone`."""
    argv = asyncio.run(views_of(places).attach_command(pane, os.environ, aside=aside))
    sys.stdout.flush()
    shell = ["/bin/sh", "-c", WAIT_AND_TELL, "cockpit", sys.executable, *argv]
    os.execve(shell[0], shell, client_terminal(os.environ))


def views_of(places: Places) -> TmuxViews:
    """What terminals can be made to show on this cockpit's tmux server."""
    return TmuxViews(Tmux(places.tmux_socket, places.tmux_config, os.environ))


def check_terminal() -> None:
    """Refuse where there is no terminal to give, or where it is one of ours already."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage(
            "This needs a terminal",
            "Standard input and output are not both one.",
            "Without one: cockpit status, cockpit events --follow",
        )
    if (term := os.environ.get("TERM", "")) in ("", "dumb", "unknown"):
        raise BadUsage(
            f"This terminal cannot show a screen (TERM={term})",
            "It can only write one line after the other.",
            "For such a terminal: cockpit status --watch --plain. If it can do more than it says: "
            "TERM=xterm-256color cockpit",
        )
    if agent := os.environ.get("COCKPIT_AGENT"):
        raise NotNow(
            "This terminal is in the cockpit already",
            f"It is the pane of agent {agent!a}.",
            "F12 leads back to the cockpit's screen.",
        )

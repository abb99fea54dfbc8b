"""The terminal in which one of cockpit's tmux clients runs: the terminal's name, and the user's
own tmux around the terminal.

Reads only the prefix keys and key bindings of the user's tmux, and changes nothing there.
"""

from __future__ import annotations

import curses
import subprocess
from collections.abc import Mapping
from functools import cache

LIKE_MOST = ("xterm-256color", "screen-256color", "xterm")
"""Replacement names for a terminal without a terminfo entry on this machine."""
PATIENCE = 3.0
"""Maximum seconds to wait for an answer of the user's own tmux."""


def client_terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for one of cockpit's tmux clients in this terminal, without `TMUX`.

    A terminal name that is unknown on this machine, as is common with ssh, is replaced with a known
    name, because tmux refuses unknown names and most terminals support xterm's sequences.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith("TMUX")}
    return {**kept, "TERM": _known_name(kept.get("TERM", ""))}


@cache
def _known_name(name: str) -> str:
    # Cached, because curses keeps the first terminal that it was set up with.
    for terminal in (name, *LIKE_MOST):
        try:
            curses.setupterm(terminal, 1)
        except curses.error:
            continue
        return terminal
    return name


def is_kept(key: str, environment: Mapping[str, str]) -> bool:
    """Return whether the user's own tmux around this terminal handles this key itself.

    The key is then a prefix or bound in the root key table. False if that tmux does not answer.
    """
    socket = environment.get("TMUX", "").rsplit(",", 2)[0]
    if not socket:
        return False
    ask = ["tmux", "-S", socket, "show-options", "-gv", "prefix", ";"]
    ask += ["show-options", "-gv", "prefix2", ";", "list-keys", "-T", "root"]
    try:
        listing = subprocess.run(
            ask, capture_output=True, timeout=PATIENCE, check=False, text=True, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    lines = [line.split() for line in listing.stdout.splitlines()]
    prefixes, bindings = lines[:2], lines[2:]
    passed_on = ["send-keys", key]
    return [key] in prefixes or any(key in line[:5] and line[-2:] != passed_on for line in bindings)

"""The terminal that a tmux client of ours runs in: its name, and the user's own tmux around it.

The user's tmux is only asked for its keys; nothing in it is changed.
"""

from __future__ import annotations

import curses
import subprocess
from collections.abc import Mapping
from functools import cache

LIKE_MOST = ("xterm-256color", "screen-256color", "xterm")
"""Names to use for a terminal that this machine has no description of."""
PATIENCE = 1.0
"""Seconds to wait for the answer of the user's own tmux."""


def client_terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a tmux client of ours in this terminal, without `TMUX`.

    A terminal name that this machine does not know, as is usual over ssh, is replaced by one that
    it knows: tmux refuses unknown names, and such terminals understand xterm's sequences.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith("TMUX")}
    return {**kept, "TERM": _known_name(kept.get("TERM", ""))}


@cache
def _known_name(name: str) -> str:
    # Cached: curses keeps the first terminal that it was set up with.
    for each in (name, *LIKE_MOST):
        try:
            curses.setupterm(each, 1)
        except curses.error:
            continue
        return each
    return name


def is_kept(key: str, environment: Mapping[str, str]) -> bool:
    """Whether a tmux around this terminal takes a key itself, so that it does not reach us."""
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

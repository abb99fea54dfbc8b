"""The terminal around a tmux client of ours: its name, and a tmux of the pilot's that it may be in.

That tmux is asked one question and never told anything.
"""

from __future__ import annotations

import curses
import subprocess
from collections.abc import Mapping
from functools import cache

LIKE_MOST = ("xterm-256color", "screen-256color", "xterm")
"""Names that stand for a terminal of which this machine has no description."""
PATIENCE = 1.0
"""Seconds that the pilot's own tmux has for its answer."""


def client_terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with which a tmux client shows ours in a terminal, `TMUX` left out.

    A terminal whose name this machine does not know, as is usual over ssh, gets one that it does:
    tmux would refuse it, and all that have names of their own speak xterm's language.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith("TMUX")}
    return {**kept, "TERM": _known_name(kept.get("TERM", ""))}


@cache
def _known_name(name: str) -> str:
    # Asked once: the library keeps to the first terminal that it was given and found.
    for each in (name, *LIKE_MOST):
        try:
            curses.setupterm(each, 1)
        except curses.error:
            continue
        return each
    return name


def is_kept(key: str, environment: Mapping[str, str]) -> bool:
    """Whether the tmux that this terminal is in, if any, does not let a key through to us."""
    socket = environment.get("TMUX", "").rsplit(",", 2)[0]
    if not socket:
        return False
    ask = ["tmux", "-S", socket, "show-options", "-gv", "prefix", ";"]
    ask += ["show-options", "-gv", "prefix2", ";", "list-keys", "-T", "root"]
    try:
        told = subprocess.run(
            ask, capture_output=True, timeout=PATIENCE, check=False, text=True, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    lines = [line.split() for line in told.stdout.splitlines()]
    prefixes, bindings = lines[:2], lines[2:]
    passed_on = ["send-keys", key]
    return [key] in prefixes or any(key in line[:5] and line[-2:] != passed_on for line in bindings)

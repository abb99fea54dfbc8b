"""Refuse, inside an agent, the commands that the supervisor cannot check.

The supervisor checks the callers of its API itself (`supervisor/api/callers.py`). This module
covers actions that do not need the local supervisor, such as trusting or writing a file, starting
or ending a supervisor, running a hook, and requests to another machine. A process is inside an
agent if cockpit's variables are in its environment, or in the environment of one of its ancestors.
A process in a window of cockpit's tmux server counts as inside an agent too, except in the home
window, which runs cockpit's screen.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from cockpit.adapters.process.ancestry import TmuxStart, ancestry, tmux_starts
from cockpit.cli.places import our_places
from cockpit.config.paths import Places
from cockpit.config.same_paths import same_path
from cockpit.core.errors import NotAllowed
from cockpit.ports.processes import Ancestor

_HOOK_MARKER = re.compile(r"hook-[0-9a-f]+")
_HINT = "Ask the user to run the command in their own terminal."


def refuse_inside_agent(what: str, *, nested: bool = True) -> None:
    """Raise `NotAllowed` if this process runs inside an agent, or in the setup of a worktree.

    `what` completes "an agent may not ...", such as "trust a file". A command that a hook runs is
    allowed, because hooks are the user's own programs. With `nested`, the command is allowed inside
    an agent of another cockpit if this cockpit has its own `COCKPIT_HOME`.
    """
    places = our_places()
    ancestors = ancestry(os.getpid(), boot="-")
    for ancestor in ancestors:
        if not ancestor.run or _HOOK_MARKER.fullmatch(ancestor.run):
            continue
        if not _is_other_cockpit(
            places, ancestor.state, Path(ancestor.socket).parent, nested=nested
        ):
            raise _refusal(what, f"This command runs inside {_name(ancestor)}.", ancestor.state)
    for start in tmux_starts(ancestors):
        state = _state_of(start, places)
        if state is None or start.process.process.pid == _home_pid(start):
            continue
        if not _is_other_cockpit(places, state, Path(start.socket).parent, nested=nested):
            raise _refusal(
                what,
                f"This command runs in cockpit's own tmux server (process "
                f"{start.process.process.pid}), in a window where only agents run.",
                state,
            )


def _refusal(what: str, where: str, state: str) -> NotAllowed:
    if not state:
        where += " An older version of cockpit started this process, so its owner is unknown."
    return NotAllowed(f"Refused: an agent may not {what}", where, _HINT)


def _name(ancestor: Ancestor) -> str:
    kind = "the worktree setup of agent" if ancestor.run.startswith("setup-") else "agent"
    return f"{kind} {ancestor.agent or ancestor.run!a} (process {ancestor.process.pid})"


def _is_other_cockpit(places: Places, state: str, runtime: Path, *, nested: bool) -> bool:
    """Return whether `state` and `runtime` are folders of a cockpit other than `places`.

    False if the folder `state` cannot be read. Folders are compared by inode, not by name. Another
    user's cockpit is always a different one. A cockpit of the same user is a different one only
    with `nested`, and only if this command has its own `COCKPIT_HOME`.
    """
    state_folder = _identity(Path(state))
    if state_folder is None:
        return False
    if state_folder.st_uid != os.geteuid():
        return True
    if not nested or places.home is None:
        return False
    their_folders = [state_folder, _identity(runtime)]
    our_folders = [_identity(places.state), _identity(places.runtime)]
    return not any(
        ours is not None and theirs is not None and os.path.samestat(ours, theirs)
        for ours in our_folders
        for theirs in their_folders
    )


def _identity(folder: Path) -> os.stat_result | None:
    try:
        return folder.stat() if folder.is_absolute() else None
    except OSError:
        return None


def _state_of(start: TmuxStart, places: Places) -> str | None:
    """Return the state folder of the cockpit that owns this tmux server; None for a tmux server
    that belongs to no cockpit."""
    if same_path(start.socket, places.tmux_socket):
        return str(places.state)
    folder, name = os.path.split(start.config)
    if name != places.tmux_config.name or not Path(folder, places.lease.name).exists():
        return None
    return folder


def _home_pid(start: TmuxStart) -> int | None:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from cockpit.adapters.tmux.panes import Tmux

    tmux = Tmux(Path(start.socket), Path(start.config), os.environ)
    with ThreadPoolExecutor(1) as executor:  # the caller may be inside a running event loop
        return executor.submit(lambda: asyncio.run(tmux.home_pid())).result()

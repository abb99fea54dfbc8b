"""Find the leases, the file locks of agents and worktrees, and their holders.

The launcher takes them (`launcher.py`); the agent and its children hold them while one of them
lives. This module only checks them, and locks nothing for longer than a check.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass, replace
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.process.process_table import keepers

NAME = "cockpit.lease"
"""Name of a worktree's lock, in git's own folder for that worktree."""
_LONGEST_WORD = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that took the lock last, as recorded in it; its child may still hold the lock."""

    pid: int | None = None
    agent: str | None = None
    run: str | None = None
    """The marker of its processes."""
    keepers: tuple[int, ...] = ()
    """Processes that have it open now, as far as they are visible."""


def worktree_lease(directory: Path) -> Path | None:
    """Return the lock of the linked worktree that contains the directory; None for any other.

    Reads the files that git documents, and starts no process: `.git` is a file that names the
    worktree's own folder, and that folder has a `commondir`.
    """
    here = Path(os.path.realpath(directory))
    for folder in (here, *here.parents):
        mark = folder / ".git"
        if mark.is_dir():
            return None
        if mark.is_file():
            own = _named_in(mark, folder)
            linked = own is not None and (own / "commondir").is_file()
            return own / NAME if own is not None and linked else None
    return None


def _named_in(mark: Path, folder: Path) -> Path | None:
    try:
        word = read_file(mark, _LONGEST_WORD, cut=True)
    except OSError:
        return None
    key, _, place = word.rstrip(b"\r\n").partition(b": ")
    if key != b"gitdir" or not place or b"\n" in place or b"\0" in place:
        return None
    return Path(os.path.realpath(folder / os.fsdecode(place)))


def holder(lease: Path, *, shared: bool = False) -> Holder | None:
    """Return who prevents the lock from being taken, or from being shared; None if it is free.

    A lock that cannot be checked counts as free: the kernel decides when it is taken.
    """
    try:
        handle = os.open(lease, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return replace(_read(os.pread(handle, 1000, 0)), keepers=_keepers(handle))
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _keepers(handle: int) -> tuple[int, ...]:
    found, me = os.fstat(handle), os.getpid()
    return tuple(pid for pid in keepers(found.st_dev, found.st_ino) if pid != me)


def _read(raw: bytes) -> Holder:
    """Parse `PID AGENT MARKER`, written by the launcher; missing parts are unknown."""
    words = raw.decode("ascii", "replace").split()
    pid = int(words[0]) if words and words[0].isdecimal() else None
    agent, run = (words[place] if len(words) > place else None for place in (1, 2))
    return Holder(pid, agent, run)

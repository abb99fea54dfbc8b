"""Find out which process holds a lease, the file lock of an agent or a worktree.

`launcher.py` locks a lease, which stays locked while the agent or one of its children lives. This
module only checks leases; a check locks the lease for a moment.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.process.process_table import keepers
from cockpit.core.deferred_dataclass import dataclass

NAME = "cockpit.lease"
"""Name of a worktree's lock file in `.git/worktrees/NAME`."""
_LONGEST_WORD = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that locked a lease last, as the file records it.

    A child of that process may still hold the lock.
    """

    pid: int | None = None
    agent: str | None = None
    run: str | None = None
    """Value of `COCKPIT_RUN` of the holder's processes."""
    keepers: tuple[int, ...] = ()
    """Pids of the processes that have the lock file open now, as far as the system reports them."""


def worktree_lease(directory: Path) -> Path | None:
    """Return the lock file of the linked worktree that contains the directory; None outside a
    linked worktree.

    Starts no process. Reads only files that git documents: `.git`, and `commondir` in
    `.git/worktrees/NAME`.
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
    """Return the holder that prevents an exclusive lock; None if the lease is free.

    With `shared`, the holder that prevents a shared lock. A lease that cannot be checked is
    reported as free; the launcher fails if it then cannot lock the lease.
    """
    try:
        handle = os.open(lease, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return replace(_read(os.pread(handle, 1000, 0)), keepers=_other_holders(handle))
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _other_holders(handle: int) -> tuple[int, ...]:
    status, me = os.fstat(handle), os.getpid()
    return tuple(pid for pid in keepers(status.st_dev, status.st_ino) if pid != me)


def _read(raw: bytes) -> Holder:
    """Parse `PID AGENT MARKER`, as written by the launcher; missing parts become None."""
    words = raw.decode("ascii", "replace").split()
    pid = int(words[0]) if words and words[0].isdecimal() else None
    agent, run = (words[place] if len(words) > place else None for place in (1, 2))
    return Holder(pid, agent, run)

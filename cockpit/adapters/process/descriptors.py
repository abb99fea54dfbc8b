"""Set the limit of open files for this process and for the programs that it starts.

The supervisor raises its own soft limit: a program that opens many connections to it could use up
the usual 1,024. Programs that the supervisor starts get the original limit, because a higher limit
breaks programs that use `select`, and slows down programs that close every possible descriptor.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Sequence
from contextlib import suppress

MOST_OPEN = 65_536
"""The limit of open files is raised to at most this number, even if the hard limit is higher or
infinite."""
MOST_OPEN_ON_MACOS = 10_240
"""macOS's `OPEN_MAX`. A higher number may be refused even if the hard limit is infinite."""
_AS_BEFORE = 'ulimit -S -n "$0"; exec "$@"'

_original: int | None = None


def raise_limit() -> int:
    """Raise the soft limit of open files to the hard limit, at most `MOST_OPEN`; return the soft
    limit. Idempotent."""
    global _original
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
    if soft == resource.RLIM_INFINITY or soft >= target:
        return soft
    for limit in (target, MOST_OPEN_ON_MACOS):
        with suppress(OSError, ValueError):
            if limit > soft:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
                _original = soft
                return limit
    return soft


def with_given_limit(argv: Sequence[str]) -> list[str]:
    """Return an argument vector that runs a program with this process's original limit of open
    files."""
    if _original is None:
        return list(argv)
    return ["/bin/sh", "-c", _AS_BEFORE, str(_original), *argv]


def out_of_descriptors() -> bool:
    """Return whether this process or the system has reached its limit of open files."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as refused:
        return refused.errno in (errno.EMFILE, errno.ENFILE)
    return False

"""How many files this process may have open, and the limit that its children get.

The supervisor raises its own soft limit: with the usual 1,024 a program that opens connections
could leave it none. Programs that it starts get the limit back that it was started with: with more,
those that use `select` break, and some close every possible descriptor at their start.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Sequence
from contextlib import suppress

MOST_OPEN = 65_536
"""The limit that is taken where the hard limit is higher, or none."""
_AS_BEFORE = 'ulimit -S -n "$0"; exec "$@"'

_given: int | None = None


def raise_limit() -> int:
    """Raise the soft limit to the hard one, at most `MOST_OPEN`; the limit now. Idempotent."""
    global _given
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    with suppress(OSError, ValueError):  # macOS has another limit of its own below
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        _given = soft
        return wanted
    return soft


def with_given_limit(argv: Sequence[str]) -> list[str]:
    """The argument vector that runs a program under the limit that this process was given."""
    if _given is None:
        return list(argv)
    return ["/bin/sh", "-c", _AS_BEFORE, str(_given), *argv]


def out_of_descriptors() -> bool:
    """Whether this process can open no further file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as refused:
        return refused.errno in (errno.EMFILE, errno.ENFILE)
    return False

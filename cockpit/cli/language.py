"""The language of the terminal as its environment says it, and not as Python would like it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def hear_what_was_said() -> None:
    """Where `LANG` says C, Python itself writes a `LC_CTYPE` of UTF-8 beside it (PEP 538), and
    nobody could tell any more that ASCII was asked for. Take it back, if it is none of the pilot's.

    Twice is the same as once. Where a process cannot see what it was started with, nothing is done.
    """
    if os.environ.get("LANG") and "LC_CTYPE" in os.environ:
        with suppress(OSError):
            given = Path("/proc/self/environ").read_bytes().split(b"\0")
            if not any(one.startswith(b"LC_CTYPE=") and one[9:] for one in given):
                del os.environ["LC_CTYPE"]

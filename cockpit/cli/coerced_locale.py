"""Undo the change that Python makes to the user's locale at startup."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cockpit.config.kernel import USES_LINUX


def drop_coerced_locale() -> None:
    """Remove the `LC_CTYPE` that Python adds when `LANG` is C (PEP 538), unless the user set it.

    Otherwise a user who asked for ASCII would get UTF-8. Idempotent. Does nothing if `LANG` is not
    set, and on systems where a process cannot read its initial environment.
    """
    if USES_LINUX and os.environ.get("LANG") and "LC_CTYPE" in os.environ:
        with suppress(OSError):
            given = Path("/proc/self/environ").read_bytes().split(b"\0")
            if not any(entry.startswith(b"LC_CTYPE=") and entry[9:] for entry in given):
                del os.environ["LC_CTYPE"]

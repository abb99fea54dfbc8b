"""Take away what only Linux has from this process, as if it ran on another system.

With `COCKPIT_PORTABLE=1` the code must not ask for it. A test's process fails if it does: names of
the standard library are missing, and opening or listing `/proc` from cockpit's own code raises.
psutil and the tests themselves may read `/proc`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

HOUSE = f"{Path(__file__).parents[1] / 'cockpit'}{os.sep}"
MISSING = {
    os: ("O_PATH", "memfd_create", "pidfd_open", "sched_getaffinity", "eventfd"),
    signal: ("pidfd_send_signal",),
    time: ("CLOCK_BOOTTIME",),
}
_OPENS = {"open", "os.listdir", "os.scandir"}


def take_away() -> None:
    """Take it away until this process ends."""
    for module, names in MISSING.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    sys.addaudithook(_refuse_proc)


def _refuse_proc(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _OPENS or not isinstance(arguments[0], str | bytes | Path):
        return
    if os.fsencode(arguments[0]).split(b"/")[:2] == [b"", b"proc"]:
        frame = sys._getframe(1)
        while "pathlib" in frame.f_code.co_filename and frame.f_back is not None:
            frame = frame.f_back
        caller = frame.f_code.co_filename
        if caller.startswith(HOUSE):
            raise RuntimeError(f"{caller} reads {arguments[0]!r} in spite of COCKPIT_PORTABLE")

"""Decide which facilities of the Linux kernel this process uses.

All code that needs pidfds, inotify, `/proc`, memfds or `O_PATH` checks this module first, and has a
portable fallback: psutil, polling, ordinary files. `COCKPIT_PORTABLE=1` selects the fallbacks on
Linux too, so that they can be tested there; `make test-portable` sets it. Uses the standard library
only, because the fast commands import this module.
"""

from __future__ import annotations

import os
import sys
from typing import Final

PORTABLE_VARIABLE: Final = "COCKPIT_PORTABLE"
USES_LINUX: Final[bool] = sys.platform == "linux" and not os.environ.get(PORTABLE_VARIABLE)
"""Whether pidfds, inotify, `/proc`, memfds and `O_PATH` are used."""
IS_MACOS: Final[bool] = sys.platform == "darwin"

"""The simulated model as a process: `python -m cockpit.demo.simulation`.

Prints its URL on one line and serves until stdin is closed, so that the process ends even if the
demo is killed.
"""

from __future__ import annotations

import os
import sys

from cockpit.demo.model import ModelServer
from cockpit.demo.script import Script

PACE_VARIABLE = "COCKPIT_DEMO_PACE"
"""Environment variable with the seconds before each reply; default: 0.8."""


def main() -> None:
    """Serve the replies for the demo's jobs."""
    pace = float(os.environ.get(PACE_VARIABLE, "0.8"))
    with ModelServer(Script(pace=pace)) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

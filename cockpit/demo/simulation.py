"""The simulated model as a process: `python -m cockpit.demo.simulation`.

Prints its URL on one line and serves until stdin is closed, which also happens if the demo is
killed. If the first line on stdin names the demo's folder, the process then cleans up: it ends the
processes that the demo has left, and removes the folder unless the demo keeps it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from cockpit.demo.leftovers import end_leftovers
from cockpit.demo.model import ModelServer
from cockpit.demo.script import Script

PACE_VARIABLE = "COCKPIT_DEMO_PACE"
"""Environment variable with the seconds before each reply; default: 0.8."""


def main() -> None:
    """Serve the replies for the demo's jobs until stdin is closed; then clean up."""
    pace = float(os.environ.get(PACE_VARIABLE, "0.8"))
    with ModelServer(Script(pace=pace)) as server:
        print(server.url, flush=True)
        told = sys.stdin.readline()
        sys.stdin.read()
        if told:
            _clean_up(**json.loads(told))


def _clean_up(folder: str, keep: bool) -> None:
    """End the demo's processes, and remove the demo's folder unless `keep`. Idempotent.

    After a demo that was not killed, nothing is left to do.
    """
    end_leftovers(Path(folder))
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

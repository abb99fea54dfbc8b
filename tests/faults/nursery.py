"""Supervisors as processes that begin in milliseconds: forked from one that has imported all.

The nursery is a process of its own, without threads and without a loop. Each child becomes
`cockpit.supervisor.main.run` with a world that breaks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.faults.trap import Fault, Trap

ROOT = Path(__file__).parents[2]
LOADED = (
    "cockpit.supervisor.main",
    "cockpit.adapters.agents.claude",
    "cockpit.adapters.agents.claude_fork",
    "tests.faults.broken_world",
    "concurrent.futures.thread",
    "uvicorn.lifespan.off",
)
"""What every child would import for itself otherwise."""


class Nursery:
    """The runner's side."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.faults.nursery"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # what ends the runner's group is not for the supervisors
        )

    def bear(
        self,
        environment: Mapping[str, str],
        config: Path,
        log: Path,
        faults: Sequence[Fault],
        *,
        armed: bool,
    ) -> int:
        """Start a supervisor in that environment; its pid."""
        asked = {
            "environment": dict(environment),
            "config": str(config),
            "log": str(log),
            "faults": [asdict(each) for each in faults],
            "armed": armed,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the nursery; its children are the runner's to end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def live(asked: dict[str, Any]) -> None:
    """Be a supervisor. Never returns."""
    from cockpit.config.paths import Places
    from cockpit.supervisor.main import run
    from tests.faults.broken_world import broken

    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir("/")
    out = os.open(asked["log"] + ".out", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(out, number)
    faults = tuple(Fault(**each) for each in asked["faults"])
    trap = Trap(Path(asked["log"]), faults, armed=asked["armed"])
    places = Places.of(os.environ)
    os._exit(run(places, Path(asked["config"]), lambda found: broken(found, trap)))


def main() -> None:
    """Read orders, bear children, say their pids; until the runner closes the pipe."""
    for name in LOADED:
        importlib.import_module(name)
    # Otherwise each child's first collection copies all memory that it shares.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            try:
                live(json.loads(line))
            finally:
                os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    main()

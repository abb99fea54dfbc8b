"""Supervisors as processes that begin in milliseconds: forked from one that has imported all.

The nursery is a process of its own, without threads and without a loop. Each child becomes
`cockpit.supervisor.main.run` with a world that breaks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cockpit.config.kernel import USES_LINUX
from tests.faults import kernel_log
from tests.faults.trap import Fault, Trap

ROOT = Path(__file__).parents[2]
_GAVE_UP = re.compile(r"^strace: ptrace\(PTRACE_LISTEN,.*", re.MULTILINE)
LOADED = (
    "cockpit.supervisor.main",
    "cockpit.adapters.agents.claude.runtime",
    "cockpit.adapters.agents.claude.fork",
    "tests.faults.broken_world",
    "concurrent.futures.thread",
    "uvicorn.lifespan.off",
    *(("asyncinotify",) if USES_LINUX else ()),  # runs ldconfig, which a trap would count
)
"""What every child would import for itself otherwise."""


class TracerEndedError(Exception):
    """strace ended by itself: what its cycle did is not known. Its message is strace's."""


class Nursery:
    """The runner's side."""

    def __init__(self, trace: Path | None = None) -> None:
        """With `trace`, what the kernel does for all its children is written down there."""
        self._trace, self._read = trace, 0
        command = [sys.executable, "-P", "-m", "tests.faults.nursery"]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in `close`
        self._process = subprocess.Popen(
            command if trace is None else kernel_log.traced(command, trace),
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,  # what ends the runner's group is not for the supervisors
        )

    def check(self) -> None:
        """Raise when it has ended: `TracerEndedError` for strace, else `RuntimeError`.

        strace ends when a process goes on in the moment in which it was seen to stop: the kernel
        answers PTRACE_LISTEN with EIO, and strace gives up.
        """
        if self._process.poll() is not None:
            raise self._ended()

    def _ended(self) -> Exception:
        self._errors.seek(0)
        told = self._errors.read().strip()
        if self._trace is not None and (gave_up := _GAVE_UP.search(told)):
            return TracerEndedError(gave_up[0])
        return RuntimeError(f"the nursery ended: {told[-2000:]}")

    def bear(
        self,
        environment: Mapping[str, str],
        config: Path,
        log: Path,
        faults: Sequence[Fault],
        *,
        armed: bool,
        boot: str | None = None,
    ) -> int:
        """Start a supervisor in that environment; its pid.

        `boot` is another start of the machine than this one.
        """
        asked = {
            "environment": dict(environment),
            "config": str(config),
            "log": str(log),
            "faults": [asdict(each) for each in faults],
            "armed": armed,
            "boot": boot,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            pid = self._process.stdout.readline()
        except BrokenPipeError:
            pid = ""
        if not pid:
            raise self._ended()
        return int(pid)

    def forget_deeds(self) -> None:
        """What was written down until now belongs to an earlier cycle."""
        if self._trace is not None and self._trace.exists():
            self._read = self._trace.stat().st_size
            os.truncate(
                self._trace, 0
            )  # strace goes on at its offset: what is before takes no room

    def deeds(self) -> list[kernel_log.Deed] | None:
        """What the kernel did since; None where nothing is traced."""
        if self._trace is None:
            return None
        with self._trace.open("rb") as file:
            file.seek(self._read)
            return list(kernel_log.deeds(file.read().decode("utf-8", "replace")))

    def close(self) -> None:
        """End the nursery; its children are the runner's to end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # an order that it did not read any more
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


def live(asked: dict[str, Any]) -> None:
    """Be a supervisor. Never returns."""
    from cockpit.adapters import clock
    from cockpit.adapters.process import process_table
    from cockpit.config.paths import Places
    from cockpit.supervisor.main import run
    from tests.faults.broken_world import broken

    if boot := asked["boot"]:
        clock.boot_id = process_table.boot_id = lambda: boot  # type: ignore[attr-defined]
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

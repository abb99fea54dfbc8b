"""Where a supervisor is hurt: counts what reaches the world, and springs at chosen numbers.

Every reach has a number, in order, and a line in a log that outlives the process. A trap ends
its process as a power cut does, or makes the reach fail as a full or broken disk does. What
reaches the world is known in `broken_world`.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["KILL", "ENOSPC", "EIO"]
"""What hurts the supervisor itself."""
Tampered = Literal["DOCUMENT", "COPY", "LEASE"]
"""What is done to its files; see `tampering`."""
Refusal = Callable[[int], Exception]
"""The error that a reach answers with, of an errno."""

Cut = Literal["CUT"]
"""The power goes: the disk keeps what was synced, and nobody lives on. See `power`."""
KINDS = (*get_args(Kind), *get_args(Tampered), *get_args(Cut))
ENDS = ("KILL", "CUT")
FULL_SECONDS = 0.6
"""How long a full disk stays full: long enough to hit several writes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, at one number or at the first reach of that name."""

    at: int | str
    kind: Kind | Tampered | Cut

    def is_due(self, number: int, name: str) -> bool:
        """A number that was passed by is due as well; a name only when it is reached."""
        return self.at == name if isinstance(self.at, str) else self.at <= number


class Trap:
    """One for each process. Safe to reach from any thread."""

    def __init__(self, log: Path, faults: tuple[Fault, ...], *, armed: bool) -> None:
        self.armed = armed
        """Whether reaches count yet; a first supervisor is armed when its handoff begins."""
        self._faults = list(faults)
        self._lock = threading.Lock()
        self._number = 0
        self._full_until = 0.0
        self._is_busy = False
        """Somebody tampers: what is reached by that is none of the supervisor's."""
        self.cut: Callable[[], None] = lambda: None
        self.tamper: Callable[[str], None] = lambda kind: None
        self.closed_by: tuple[str, ...] = ()
        """Points from which on nothing is tampered with any more."""
        self._is_closed = False
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def reach(self, name: str, refusal: Refusal | None = None, *, writes: bool = True) -> None:
        """Something is about to be done (with a `refusal`), or was done (without)."""
        if not self.armed or self._is_busy:
            return
        with self._lock:
            self._number += 1
            due = next((each for each in self._faults if each.is_due(self._number, name)), None)
            if due is not None and due.kind in get_args(Tampered):
                self._faults.remove(due)
                if self._is_closed:
                    due = None
            elif due is not None and (due.kind in ENDS or refusal is not None):
                self._faults.remove(due)
            elif due is not None:
                due = None  # what was done cannot fail any more: the next reach does
            sprung = f" {due.kind}" if due else ""
            os.write(self._log, f"{self._number} {name}{sprung}\n".encode())
            self._is_closed = self._is_closed or name in self.closed_by
        if due is not None:
            self._spring(due, refusal)
        if writes and refusal is not None and time.monotonic() < self._full_until:
            raise refusal(errno.ENOSPC)

    def _spring(self, fault: Fault, refusal: Refusal | None) -> None:
        if fault.kind in ENDS:
            if fault.kind == "CUT":
                self._is_busy = True
                self.cut()
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        if fault.kind in get_args(Tampered):
            self._is_busy = True
            try:
                self.tamper(fault.kind)
            finally:
                self._is_busy = False
            return
        assert refusal is not None
        if fault.kind == "ENOSPC":
            self._full_until = time.monotonic() + FULL_SECONDS
            raise refusal(errno.ENOSPC)
        raise refusal(errno.EIO)


@dataclass(frozen=True, slots=True)
class Reached:
    """One line of a trap's log."""

    number: int
    name: str
    sprung: Kind | Tampered | Cut | None


def reached(log: Path) -> list[Reached]:
    """What a trap has counted, in order; none if it was never reached."""
    if not log.exists():
        return []
    found = []
    for line in log.read_text().splitlines():
        number, _, rest = line.partition(" ")
        name, _, last = rest.rpartition(" ")
        sprung = last if last in KINDS else None
        found.append(Reached(int(number), name if sprung else rest, sprung))  # type: ignore[arg-type]
    return found

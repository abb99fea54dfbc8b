"""A program on a pseudo-terminal of ours: what it writes there, and how soon it answers."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import termios
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tests.bench.processes import spent

SIZE = (50, 160)
WINDOWS = 5
WINDOW_SECONDS = 2.0
"""The slowest pace of the screen, so that each window has as many drawings."""
QUIET = 0.15
"""Seconds without a byte after which a screen is drawn."""


class Terminal:
    """Usable as a context manager, which hangs up on the program."""

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        at: Path | None = None,
        size: tuple[int, int] = SIZE,
    ) -> None:
        """`size` is in rows and columns."""
        self.begun = time.monotonic()
        self.seen = b""
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(at or Path.cwd())
            os.execvpe(argv[0], list(argv), {**environment, **LOOKS})

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, patience: float) -> bytes:
        """What it writes next, or nothing within so many seconds."""
        if not select.select([self._terminal], [], [], patience)[0]:
            return b""
        try:
            data = os.read(self._terminal, 1 << 20)
        except OSError:
            return b""
        self.seen = self.seen[-100_000:] + data
        return data

    def until(self, words: Sequence[bytes], within: float = 60.0) -> float:
        """Milliseconds from the start until one of the words was seen. Raises `TimeoutError`."""
        while not any(word in self.seen for word in words):
            if time.monotonic() > self.begun + within:
                raise TimeoutError(f"never showed {words}: {self.seen[-300:]!r}")
            self.read(0.05)
        return 1000 * (time.monotonic() - self.begun)

    def drained(self, seconds: float) -> int:
        """Bytes written in so many seconds."""
        total, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            total += len(self.read(left))
        return total

    def press(self, key: bytes) -> None:
        os.write(self._terminal, key)

    def quiet(self) -> None:
        """Wait until it has nothing more to draw, five seconds at most."""
        end = time.monotonic() + 5
        while time.monotonic() < end and self.read(QUIET):
            pass

    def answer(self, key: bytes) -> float:
        """Milliseconds from a key, on a quiet screen, to the first byte that it changed."""
        self.quiet()
        begun = time.monotonic()
        self.press(key)
        self.read(5.0)
        return 1000 * (time.monotonic() - begun)

    def watched(self, whose: Callable[[], Iterable[int]]) -> tuple[float, float]:
        """Bytes a second and percent of a core of these processes: medians of some windows."""
        rates, shares = [], []
        for _ in range(WINDOWS):
            pids = list(whose())
            before = spent(pids)
            rates.append(self.drained(WINDOW_SECONDS) / WINDOW_SECONDS)
            shares.append(100 * (spent(pids) - before) / WINDOW_SECONDS)
        return statistics.median(rates), statistics.median(shares)

    def close(self) -> None:
        """Hang up, as a terminal does that is closed; what still stays is ended.

        What the program began is left alone: a supervisor is to survive its terminal.
        """
        os.kill(self.pid, signal.SIGHUP)
        os.close(self._terminal)
        end = time.monotonic() + 3
        while not os.waitpid(self.pid, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.01)


LOOKS = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}

"""What the screen costs: bytes to the terminal, processor, memory, and how soon it answers."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.rows import percentile, row

TICKS = os.sysconf("SC_CLK_TCK")
SIZE = (40, 120)
WARM_SECONDS = 2.0
WATCHED_SECONDS = 10.0


@dataclass
class Screen:
    """A cockpit on a pseudo-terminal of our own."""

    pid: int
    terminal: int
    first_frame: float

    @classmethod
    def opened(cls, agents: int, each: float, refresh: str = "auto") -> Screen:
        begun = time.monotonic()
        pid, terminal = pty.fork()
        if not pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            command = ["-m", "tests.bench.fleet_in_memory", str(agents), str(each), refresh]
            os.execv(sys.executable, [sys.executable, *command])
        screen = cls(pid, terminal, 0.0)
        seen = b""
        while b"agent-0" not in seen:
            seen += screen.read(30.0)
        screen.first_frame = time.monotonic() - begun
        return screen

    def read(self, patience: float) -> bytes:
        ready, _, _ = select.select([self.terminal], [], [], patience)
        return os.read(self.terminal, 1 << 20) if ready else b""

    def drained(self, seconds: float) -> int:
        """Bytes written in so many seconds."""
        total, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            total += len(self.read(left))
        return total

    def processor(self) -> float:
        """Seconds of processor so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Resident megabytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6

    def answer(self, key: bytes) -> float:
        """Seconds from a key to the first byte that it changed on the screen."""
        while self.read(0.15):
            pass
        begun = time.monotonic()
        os.write(self.terminal, key)
        self.read(5.0)
        return time.monotonic() - begun

    def close(self) -> None:
        os.write(self.terminal, b"q")
        end = time.monotonic() + 5
        while time.monotonic() < end and not os.waitpid(self.pid, os.WNOHANG)[0]:
            try:
                self.read(0.05)
            except OSError:
                break
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.terminal)


def watch(agents: int, each: float, refresh: str, reach_bytes: str, reach_cpu: str) -> None:
    screen = Screen.opened(agents, each, refresh)
    try:
        screen.drained(WARM_SECONDS)
        before = screen.processor()
        total = screen.drained(WATCHED_SECONDS)
        used = screen.processor() - before
        what = f"{agents} agents, {each:g} events/s each, {refresh}"
        row(f"bytes to the terminal: {what}", total / WATCHED_SECONDS / 1e3, "KB/s", reach_bytes)
        row(f"processor: {what}", 100 * used / WATCHED_SECONDS, "%", reach_cpu)
        if not each:
            row(f"memory: {what}", screen.memory(), "MB", "<= 80")
    finally:
        screen.close()


def answers() -> None:
    screen = Screen.opened(100, 0)
    try:
        screen.drained(WARM_SECONDS)
        times = [1e3 * screen.answer(b"j" if number % 20 < 10 else b"k") for number in range(60)]
        row("key to screen, 100 agents, p95", percentile(times, 0.95), "ms", "<= 30")
    finally:
        screen.close()


def first_frames() -> None:
    times = []
    for _ in range(3):
        screen = Screen.opened(10, 0)
        times.append(screen.first_frame)
        screen.close()
    row("start to the first useful frame", 1e3 * statistics.median(times), "ms", "<= 800 cold")


if __name__ == "__main__":
    first_frames()
    watch(50, 0, "auto", "0", "<= 1")
    watch(50, 2, "auto", "<= 8", "<= 8")
    watch(50, 2, "low", "<= 2", "<= 8")
    watch(100, 2, "auto", "", "")
    answers()

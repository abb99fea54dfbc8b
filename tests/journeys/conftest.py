"""A cockpit with stand-ins in it, and the terminals in which a user looks at it.

Two kinds of terminal: `Terminal` draws, so that a test sees what a person sees; `Line` is a bare
pseudo-terminal, so that a test has the bytes and can hang up. Both hold the real `cockpit`.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff
from tests.supervisor.conftest import Cockpit, cockpit

__all__ = ["cockpit"]

COCKPIT = [sys.executable, "-P", "-m", "cockpit"]
PATIENCE = 120.0
LOOK = 0.05
SELDOM = 0.2
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[P_^X][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)

T = TypeVar("T")


def wait_for(look: Callable[[], T], told: Callable[[], str], within: float = PATIENCE) -> T:
    """The first true answer of `look`; what is `told` explains that there was none.

    To look at a pane takes 4 ms of processor time, so what takes long is looked at less often.
    """
    begun = time.monotonic()
    while not (answer := look()):
        waited = time.monotonic() - begun
        assert waited < within, told()
        time.sleep(min(max(LOOK, waited / 10), SELDOM))
    return answer


def as_in_a_shell(**more: str) -> dict[str, str]:
    """The environment of a terminal that somebody has just opened."""
    kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", **more}


def unadorned(seen: str) -> str:
    """What is seen, without the glyph of an agent's state, and with frames as plain rules."""
    rows = re.sub(r"([▌ ] \d )[◌●○◆»✓·×?] ", r"\1", seen)
    return rows.replace("╭─", "──").replace("├─", "──")


class Terminal:
    """A terminal that draws: a private tmux, as a user may have one, with one program in it."""

    def __init__(self, folder: Path, size: tuple[int, int] = (100, 30)) -> None:
        self.size = size
        self.bytes = folder / f"bytes-{id(self)}"
        self._tmux = ["tmux", "-S", str(folder / f"t-{id(self)}"), "-f", "/dev/null"]

    def run(self, *words: str, at: Path, **environment: str) -> None:
        """Open it with `cockpit` and these words in it; what the program writes is kept."""
        self._open([*COCKPIT, *words], at, environment)

    def run_shell(self, *words: str, at: Path) -> None:
        """The same, typed into a shell, which is there again afterwards."""
        script = shlex.join([*COCKPIT, *words])
        self._open(["/bin/sh", "-c", f"{script}; echo LEFT $?; exec cat"], at, {})

    def run_inside(self, *words: str, at: Path) -> None:
        """The same as `run`, but `cockpit` can see that this is a tmux of somebody's."""
        self._open([*COCKPIT, *words], at, {}, seen_as=[])

    def run_program(self, argv: Sequence[str], at: Path, **environment: str) -> None:
        """Open it with another program, such as one that reaches a `cockpit` elsewhere."""
        self._open(list(argv), at, environment)

    def _open(
        self,
        argv: list[str],
        at: Path,
        environment: dict[str, str],
        *,
        seen_as: Sequence[str] = ("env", "-u", "TMUX", "-u", "TMUX_PANE"),
    ) -> None:
        columns, rows = self.size
        size = ["-x", str(columns), "-y", str(rows)]
        given = [*seen_as, *argv]
        whole = ["set-option", "status", "off"]
        keep = ["pipe-pane", "-O", f"exec cat > {shlex.quote(str(self.bytes))}"]
        subprocess.run(
            [
                *self._tmux,
                "new-session",
                "-d",
                *size,
                "-c",
                str(at),
                "--",
                *given,
                ";",
                *whole,
                ";",
                *keep,
            ],
            env=as_in_a_shell(**environment),
            check=True,
        )

    def press(self, *keys: str) -> None:
        """Keys by the names that tmux has for them, one after the other."""
        self.ask("send-keys", *keys)

    def type(self, text: str) -> None:
        """Text as it is, letter by letter."""
        self.ask("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        self.size = columns, rows
        self.ask("resize-window", "-x", str(columns), "-y", str(rows))

    def seen(self) -> str:
        """What a person sees now."""
        done = subprocess.run(
            [*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False
        )
        return done.stdout

    def until(self, *words: str, gone: tuple[str, ...] = (), within: float = PATIENCE) -> str:
        """What is seen once it has all the words, and none of those that must be gone."""

        def look() -> str:
            picture = unadorned(self.seen())
            there = all(word in picture for word in words)
            return picture if there and not any(word in picture for word in gone) else ""

        return wait_for(look, lambda: f"no {words} (or still {gone}) in:\n{self.seen()}", within)

    def written(self) -> bytes:
        """Every byte that the program has written to its terminal."""
        return self.bytes.read_bytes()

    def ask(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def close(self) -> None:
        """Take the terminal away. Twice is the same as once."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


class Line:
    """A bare pseudo-terminal with `cockpit` in it: what sshd holds of a connection."""

    def __init__(
        self, *words: str, at: Path, size: tuple[int, int] = (100, 30), **more: str
    ) -> None:
        columns, rows = size
        environment = as_in_a_shell(**more)
        self.pid, self.file = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(at)
            os.execve(COCKPIT[0], [*COCKPIT, *words], environment)
        os.set_inheritable(self.file, False)  # or the next one would hold it open
        self.size = size
        self.bytes = b""
        self.ended: int | None = None
        self._woken, self._wake = os.pipe()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, keys: str) -> None:
        os.write(self.file, keys.encode())

    def text(self, since: int = 0) -> str:
        """What came after so many bytes, without the sequences that moved and coloured it."""
        return _SEQUENCE.sub("", self.bytes[since:].decode(errors="replace"))

    def until(self, *words: str, since: int = 0, within: float = PATIENCE) -> str:
        """What came, once all the words are among it.

        Only cells that differ are sent, grouped by colour if they are few. So a text must be new
        to be found, and of one colour. For anything else call `shows`.
        """
        return wait_for(
            lambda: self.text(since) if self._said(words, since) else "",
            lambda: f"no {words} in:\n{self.text(since)[-3000:]}",
            within,
        )

    def shows(self, *words: str) -> None:
        """Wait until all the words stand on the screen, by having it sent whole."""

        def look() -> bool:
            since = len(self.bytes)
            self.resize(self.size[0], self.size[1] ^ 1)
            end = time.monotonic() + 0.5
            while not (said := self._said(words, since)) and time.monotonic() < end:
                time.sleep(LOOK)
            return said

        wait_for(look, lambda: f"no {words} in:\n{self.text()[-3000:]}")

    def resize(self, columns: int, rows: int) -> None:
        self.size = columns, rows
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _said(self, words: tuple[str, ...], since: int) -> bool:
        text = unadorned(self.text(since))
        return all(word in text for word in words)

    def hang_up(self) -> None:
        """The connection is gone: no word of farewell, the kernel tells the program."""
        if self.file < 0:
            return
        os.close(self._wake)
        self._reader.join()
        os.close(self._woken)
        os.close(self.file)
        self.file = -1
        self.wait()

    def wait(self, within: float = PATIENCE) -> int:
        """Until the program has ended; how."""

        def ended() -> bool:
            if self.ended is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.ended = os.waitstatus_to_exitcode(status) if pid else None
            return self.ended is not None

        wait_for(ended, lambda: f"{self.pid} outlives its terminal", within)
        assert self.ended is not None
        return self.ended

    def _read(self) -> None:
        while self._woken not in select.select([self.file, self._woken], [], [])[0]:
            try:
                data = os.read(self.file, 65_536)
            except OSError:
                return
            self.bytes += data


class Flight:
    """A cockpit that flies as a process of its own, and the terminals that look at it."""

    def __init__(self, flown: Cockpit) -> None:
        self.cockpit = flown
        flown.config = flown.home / "flight.toml"
        """By no name that is looked for: a plain `cockpit` takes its short way here."""
        self._opened: list[Terminal | Line] = []

    def fly(self, *tables: str, defaults: str = "") -> None:
        """The supervisor runs, and every agent with it."""
        self.do(self.cockpit.launch(*tables, defaults=defaults))

    def start(self, *names: str) -> None:
        for name in names:
            self.do(self.cockpit.start(name))

    def terminal(self, *words: str, size: tuple[int, int] = (100, 30), **more: str) -> Terminal:
        """A terminal that draws, with `cockpit` in it."""
        terminal = Terminal(self.cockpit.home, size)
        self._opened.append(terminal)
        terminal.run(*words, at=self.cockpit.home, **more)
        return terminal

    def shell(self, *words: str, size: tuple[int, int] = (100, 30)) -> Terminal:
        """The same, begun from a shell: it says `LEFT` and the exit code when it is left."""
        terminal = Terminal(self.cockpit.home, size)
        self._opened.append(terminal)
        terminal.run_shell(*words, at=self.cockpit.home)
        return terminal

    def through(
        self, argv: Sequence[str], size: tuple[int, int] = (100, 30), **more: str
    ) -> Terminal:
        """A terminal that draws, with a program in it that leads to a `cockpit`."""
        terminal = Terminal(self.cockpit.home, size)
        self._opened.append(terminal)
        terminal.run_program(argv, self.cockpit.home, **more)
        return terminal

    def inside_tmux(self, *words: str) -> Terminal:
        """A terminal that draws, where `TMUX` and `TMUX_PANE` are those of a user's own tmux."""
        terminal = Terminal(self.cockpit.home)
        self._opened.append(terminal)
        terminal.run_inside(*words, at=self.cockpit.home)
        return terminal

    def line(self, *words: str, size: tuple[int, int] = (100, 30), **more: str) -> Line:
        """A bare pseudo-terminal with `cockpit` in it, and more in its environment."""
        line = Line(*words, at=self.cockpit.home, size=size, **more)
        self._opened.append(line)
        return line

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def row(self, name: str = "api") -> AgentStatus:
        return self.do(self.cockpit.row(name))

    def until(self, true: Callable[[AgentStatus], object], name: str = "api") -> AgentStatus:
        return self.do(self.cockpit.until(true, name))

    def wait_for(self, look: Callable[[], T]) -> T:
        """The first true answer of `look`."""
        return wait_for(look, lambda: f"{look} never came true")

    def phase(self, phase: str, name: str = "api") -> AgentStatus:
        """The row once the handoff has come to this phase."""
        return self.until(lambda row: row.handoff and row.handoff.phase == phase, name)

    def hand_off(self, name: str = "api") -> None:
        self.do(self.cockpit.ask(Handoff(name=name)))

    def close(self) -> None:
        for one in self._opened:
            one.hang_up() if isinstance(one, Line) else one.close()


@pytest.fixture
def flight(cockpit: Cockpit) -> Iterator[Flight]:
    """Nothing flies yet; whoever does, and every terminal, is ended afterwards."""
    flown = Flight(cockpit)
    yield flown
    flown.close()

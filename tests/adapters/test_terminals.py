"""A line to the terminal of a process, and to no other file or device."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import termios
from pathlib import Path

import pytest

from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.process.terminals import open_terminal, without_echo


def test_a_line_is_written_below_what_is_there() -> None:
    ours, theirs = pty.openpty()
    name = os.ttyname(theirs).removeprefix("/dev/")
    terminal = open_terminal(name)
    assert terminal is not None
    os.close(theirs)
    terminal.write_line("It went there.")
    # What an ended program drew below its cursor is erased first.
    assert os.read(ours, 100) == b"\r\r\n\x1b[JIt went there.\r\r\n"
    os.close(ours)
    terminal.write_line("Nobody reads this.")
    terminal.close()
    terminal.close()


@pytest.mark.parametrize("name", ["", "null", "../etc/passwd", "pts/../null", "pts/9999999", "tty"])
def test_what_is_no_terminal_of_the_users_is_not_opened(name: str) -> None:
    assert open_terminal(name) is None


def test_a_process_without_a_terminal_has_none() -> None:
    processes = LocalProcesses()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as process:
        found = processes.identify(process.pid)
        assert found is not None
        assert processes.terminal(found) is None
        assert process.stdin is not None
        process.stdin.close()


async def test_asking_to_end_kills_nobody(tmp_path: Path) -> None:
    processes = LocalProcesses()
    ready = tmp_path / "ready"
    deaf = ["sh", "-c", f"trap '' TERM; touch {ready}; while :; do read x || sleep 0.1; done"]
    with subprocess.Popen(deaf, stdin=subprocess.DEVNULL) as process:
        while not ready.exists():
            assert process.poll() is None
        found = processes.identify(process.pid)
        assert found is not None
        assert await processes.ask_to_end(found, 0.2) is False
        assert process.poll() is None
        process.kill()
    with subprocess.Popen(["sleep", "600"]) as process:
        found = processes.identify(process.pid)
        assert found is not None
        assert await processes.ask_to_end(found, 20) is True


def test_the_echo_of_a_terminal_is_off_until_the_end_even_of_a_failure() -> None:
    terminal, other = pty.openpty()

    def echoes() -> bool:
        return bool(termios.tcgetattr(other)[3] & termios.ECHO)

    try:
        assert echoes()
        with contextlib.suppress(LookupError), without_echo(other):
            assert not echoes()
            os.write(terminal, b"n\n")
            assert os.read(other, 9) == b"n\n"
            raise LookupError
        assert echoes()
        os.write(terminal, b"x")
        assert os.read(terminal, 9) == b"x"
    finally:
        os.close(terminal)
        os.close(other)


def test_without_a_terminal_nothing_changes(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file, without_echo(file.fileno()):
        file.write(b"n")

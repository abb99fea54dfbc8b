"""Start an agent's program, and the follower, which reads the program's record file.

Usage: `python -I -S companion.py SPEC PROGRAM…`. The script starts `follower.py` in the background
and then executes the program in the same process (`exec`), with the same environment. The script
imports nothing of cockpit, because the package is not on the script's import path, and runs no
shell.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

NOT_FOUND, NOT_RUNNABLE = 127, 126
FOLLOWER = os.path.join(os.path.dirname(__file__), "follower.py")  # noqa: PTH118, PTH120


def start(spec: str, program: list[str]) -> NoReturn:
    """Start the follower in the background, then execute the program."""
    pid = os.getpid()
    first = os.fork()
    if first == 0:
        # After a second fork, the follower is not a child of the program, which could wait for its
        # children.
        if os.fork() == 0:
            _become_follower(spec, pid)
        os._exit(0)
    os.waitpid(first, 0)
    _become(program)


def _become_follower(spec: str, pid: int) -> NoReturn:
    """Detach from the terminal, close the inherited descriptors, which hold the agent's locks, and
    execute the follower."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        arguments = [sys.executable, "-I", "-S", FOLLOWER, str(pid), spec]
        os.execv(sys.executable, arguments)
    finally:
        os._exit(NOT_RUNNABLE)


def _become(program: list[str]) -> NoReturn:
    # Python ignores these two signals; without a reset, the program would ignore them too.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(program[0], program)
    except FileNotFoundError:
        sys.stderr.write(f"cockpit: not started: {program[0]}: no such program\n")
        os._exit(NOT_FOUND)
    except OSError as error:
        sys.stderr.write(f"cockpit: not started: {program[0]}: {error.strerror}\n")
        os._exit(NOT_RUNNABLE)


if __name__ == "__main__":
    start(sys.argv[1], sys.argv[2:])

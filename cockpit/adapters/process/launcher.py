"""Start an agent in its pane: `python -I -S launcher.py ORDER`.

Reads a launch file (see `launch_order`), changes to the agent's directory, locks the agent's
leases, and executes the agent's program in this process (`exec`). The program gets exactly the
environment in the launch file. Prints errors to the pane. Exit codes: 127 program not found, 126
not runnable, 125 refused. Imports nothing of cockpit, because the package is not on the script's
import path. Runs no shell.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time

MAGIC = b"cockpit-order-2"
REFUSED, NOT_RUNNABLE, NOT_FOUND = 125, 126, 127
LEASE_DESCRIPTOR = 10
"""The lowest descriptor for lease files. Scripts for a POSIX shell use only lower descriptors."""
TRIES, BETWEEN_TRIES = 10, 0.03
"""Maximum attempts to lock a lease file, and the seconds between attempts."""


class Refused(Exception):
    """The agent was not started. Contains the exit code and a message for the user."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_order(path: str, keep: bool) -> list[bytes]:
    """Return the fields of a launch file, and delete the file unless `keep` is set. Raises
    `Refused`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(REFUSED, f"cannot read the launch file: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise Refused(REFUSED, "the launch file belongs to another user")
        fields = file.read().split(b"\0")
    if not keep:
        os.unlink(path)  # noqa: PTH108  pathlib would cost more than all the rest of the start
    if fields[0] != MAGIC or fields[-1] != b"" or len(fields) < 8:
        raise Refused(REFUSED, "the launch file is damaged")
    return fields[1:-1]


def change_directory(directory: bytes) -> None:
    """Change to the directory.

    Raises `Refused` if the resulting path differs, for example because of a symbolic link.
    """
    try:
        os.chdir(directory)
    except OSError as error:
        raise Refused(
            REFUSED, f"cannot enter the directory {shown(directory)}: {error.strerror}"
        ) from None
    actual = os.getcwdb()  # noqa: PTH109  bytes, like `directory`
    if actual != directory:
        raise Refused(REFUSED, f"{shown(directory)} leads to another directory, {shown(actual)}")


def take_lease(path: bytes, owner: bytes, *, shared: bool = False) -> None:
    """Lock the lease file for this process, which becomes the agent. Raises `Refused` if another
    process holds the lock, or if the file cannot be opened.

    A shared lease file that cannot be opened is skipped: no other process could lock it exclusively
    either.
    """
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        # Without close-on-exec: the lock lasts as long as a process has the file open.
        held = fcntl.fcntl(opened, fcntl.F_DUPFD, LEASE_DESCRIPTOR)
        os.close(opened)
    except OSError as error:
        if shared:
            return
        raise Refused(REFUSED, f"cannot lock the file {shown(path)}: {error.strerror}") from None
    wait_for(held, path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    os.ftruncate(held, 0)
    os.pwrite(held, b"%d %s\n" % (os.getpid(), owner), 0)


def wait_for(held: int, path: bytes, kind: int) -> None:
    """Lock the file, in several attempts, because another process may lock it briefly to check it.

    Raises `Refused`.
    """
    why: str | None = None
    for attempt in range(TRIES):
        try:
            fcntl.flock(held, kind | fcntl.LOCK_NB)
            return
        except OSError as error:
            why = error.strerror
        if attempt + 1 < TRIES:
            time.sleep(BETWEEN_TRIES)
    pid, agent, *_ = [*os.pread(held, 200, 0).split(), b"unknown", b"-"]
    who = shown(pid) + (f" ({shown(agent)})" if agent not in (b"-", b"unknown") else "")
    raise Refused(
        REFUSED,
        f"another process is already running here: {who} has locked {shown(path)}"
        f" ({why}). Stop that process, then start the agent again.",
    )


def exec_program(argv: list[bytes], environment: dict[bytes, bytes]) -> None:
    """Replace this process with the program. Raises `Refused` if the program cannot be run."""
    # Python ignores these two signals; without a reset, the program would ignore them too.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    name = shown(argv[0])
    try:
        os.execvpe(argv[0], argv, environment)
    except FileNotFoundError:
        raise Refused(
            NOT_FOUND, f"{name}: no such program (or its interpreter is missing)"
        ) from None
    except OSError as error:
        raise Refused(NOT_RUNNABLE, f"cannot run {name}: {error.strerror}") from None


def shown(raw: bytes) -> str:
    """Return bytes as one printable line."""
    text = raw.decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text[:300])


def launch(arguments: list[str]) -> None:
    """Launch the program of a launch file; arguments: `[--keep] ORDER`."""
    fields = read_order(arguments[-1], keep="--keep" in arguments[:-1])
    directory, lease, claim, how, count = *fields[:4], int(fields[4])
    pairs = [field.partition(b"=") for field in fields[5 : 5 + count]]
    environment = {name: value for name, _, value in pairs}
    owner = b" ".join(environment.get(name, b"-") for name in (b"COCKPIT_AGENT", b"COCKPIT_RUN"))
    change_directory(directory)
    if lease:
        take_lease(lease, owner)
    if claim:
        take_lease(claim, owner, shared=how == b"shared")
    exec_program(fields[5 + count :], environment)


def main() -> None:
    try:
        launch(sys.argv[1:])
    except Refused as refusal:
        sys.stderr.write(f"cockpit: not started: {refusal}\n")
        sys.stderr.flush()
        os._exit(refusal.code)


if __name__ == "__main__":
    main()

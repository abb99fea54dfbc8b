"""Read the machine's process table. Sends no signals.

Reads /proc, which is exact and fast, or uses psutil, as `config/kernel.py` decides. Without /proc,
some environments cannot be read: macOS hides those of its own programs, such as /bin/zsh.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from cockpit.config.kernel import IS_MACOS, USES_LINUX
from cockpit.config.same_paths import is_within
from cockpit.core.deferred_dataclass import dataclass

PROC = Path("/proc")
PSEUDO_TERMINALS = range(136, 144)
"""Major device numbers of pseudo-terminals, such as /dev/pts/3."""
CONSOLES = 4
DELETED_SUFFIX = " (deleted)"
"""The kernel's suffix for the name of a deleted file."""
SYSCTL = "/usr/sbin/sysctl"
MEMORY, ENVIRONMENT_END = 20, 48
"""Positions of `vsize` and `env_end` in /proc/PID/stat, counted after the program's name."""
EXEC_TRIES, EXEC_PAUSE = 50, 0.001
"""Number of attempts, and seconds between them, to read an environment during an `execve`."""
EMPTY_TRIES = 4
"""Number of empty readings after which an environment counts as empty. During an `execve`, an
environment also reads as empty."""

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """A process in the process table, at the time when it was read."""

    pid: int
    parent: int
    started: int
    """Start time of the process: clock ticks since boot; on macOS, hundredths of a second since the
    epoch. Constant, even if the clock is set."""
    ended: bool
    """Whether the process is a zombie: it has ended, but was not reaped by its parent yet."""


def entry(pid: int) -> ProcessEntry | None:
    """Return the process with this pid; None if it does not exist."""
    return _entry_of_proc(pid) if USES_LINUX else _entry_of_psutil(pid)


def owner(pid: int) -> int | None:
    """Return the user id that the process runs as; None if there is no such process.

    On Linux, root is returned for a process that may not be inspected, such as one that changed its
    user.
    """
    if USES_LINUX:
        status = _stat(f"/proc/{pid}")
        return status.st_uid if status else None
    return _of_psutil(pid, lambda process: int(process.uids().effective))


def started_at(pid: int) -> float | None:
    """Return the Unix time of a process's start, by the current clock; None if unknown."""
    return _of_psutil(pid, lambda process: float(process.create_time()))


def pids() -> list[int]:
    """Return all pids, in no particular order."""
    if USES_LINUX:
        return [
            int(name)
            for name in os.listdir(PROC)  # noqa: PTH208  a tenth of the cost
            if name.isdecimal()
        ]
    return list(_psutil().pids())


def carries(pid: int, variable: bytes) -> bool | None:
    """Return whether the process was started with this `NAME=value`; False if this cannot be read.

    None for a process of this user whose environment macOS hides.
    """
    if USES_LINUX:
        return variable in _environ(pid).split(b"\0")
    environment = _of_psutil(pid, lambda process: process.environ())
    if environment == {}:
        return None  # a hidden environment is empty; another user's is refused
    name, _, value = os.fsdecode(variable).partition("=")
    return environment is not None and environment.get(name) == value


def mentions(pid: int, text: bytes) -> bool:
    """Return whether the process's initial environment contains this text; False if it cannot be
    read."""
    if USES_LINUX:
        return text in _environ(pid)
    held = _of_psutil(pid, lambda process: process.environ()) or {}
    return any(text in os.fsencode(f"{name}={value}") for name, value in held.items())


def variable(pid: int, name: bytes) -> bytes | None:
    """Return a variable's value in the process's initial environment; None if missing or
    unreadable."""
    values = variables(pid, (os.fsdecode(name),))
    return next((os.fsencode(value) for value in values.values()), None)


def variables(pid: int, names: Collection[str]) -> dict[str, str]:
    """Return these variables of the process's initial environment; empty if it cannot be read."""
    if USES_LINUX:
        by_bytes = {os.fsencode(name): name for name in names}
        held = _environ(pid).split(b"\0")
        pairs = (entry.partition(b"=") for entry in held)
        return {by_bytes[name]: os.fsdecode(value) for name, _, value in pairs if name in by_bytes}
    environment = _of_psutil(pid, lambda process: process.environ()) or {}
    return {name: environment[name] for name in names if name in environment}


def _environ(pid: int) -> bytes:
    """Return a process's initial environment from /proc; empty if it cannot be read.

    During an `execve`, the kernel shows the environment as empty for some microseconds. So an empty
    environment is read again; otherwise, cockpit would miss the process when it ends an agent's
    processes.
    """
    empty = 0
    for _ in range(EXEC_TRIES):
        raw = _read(f"/proc/{pid}/environ")
        place = None if raw or raw is None else _environment_place(pid)
        if place is None:
            return raw or b""
        start, end = place
        empty += end != b"0" and start == end
        if empty == EMPTY_TRIES:
            break
        time.sleep(EXEC_PAUSE)
    return b""


def _environment_place(pid: int) -> tuple[bytes, bytes] | None:
    """Return where the environment begins and ends in the process's memory.

    Both are 0 during an `execve`. None for a process without memory, such as a zombie or a kernel
    thread.
    """
    raw = _read(f"/proc/{pid}/stat") or b""
    fields = raw[raw.rfind(b")") + 2 :].split()
    if len(fields) <= ENVIRONMENT_END or fields[MEMORY] == b"0":
        return None
    return fields[ENVIRONMENT_END - 1], fields[ENVIRONMENT_END]


def terminal(pid: int) -> str:
    """Return a process's controlling terminal, such as `pts/3` or `ttys003`; empty for none."""
    if not USES_LINUX:
        return (_of_psutil(pid, lambda process: process.terminal()) or "").removeprefix("/dev/")
    raw = _read(f"/proc/{pid}/stat")
    if not raw:
        return ""
    device = int(raw[raw.rindex(b")") + 2 :].split()[4])
    major, minor = os.major(device), os.minor(device)
    if major in PSEUDO_TERMINALS:
        return f"pts/{minor + 256 * (major - PSEUDO_TERMINALS.start)}"
    return f"tty{minor}" if major == CONSOLES else ""


def arguments(pid: int) -> tuple[str, ...]:
    """Return a process's command line; empty if it cannot be read."""
    if not USES_LINUX:
        return tuple(_of_psutil(pid, lambda process: process.cmdline()) or ())
    raw = _read(f"/proc/{pid}/cmdline") or b""
    return (
        tuple(os.fsdecode(argument) for argument in raw.rstrip(b"\0").split(b"\0")) if raw else ()
    )


def directory(pid: int) -> Path | None:
    """Return a process's working directory; None if it cannot be read."""
    if not USES_LINUX:
        place = _of_psutil(pid, lambda process: process.cwd())
        return Path(place) if place else None
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def name(pid: int) -> str | None:
    """Return the kernel's name for the program, on Linux at most 15 characters. Untrusted text."""
    if not USES_LINUX:
        return _of_psutil(pid, lambda process: process.name())
    raw = _read(f"/proc/{pid}/comm")
    return None if raw is None else raw.decode("utf-8", "replace").rstrip("\n")


def written_below(pid: int, top: Path) -> Path | None:
    """Return a file below a folder that the process has open for writing; None if there is none.

    None, too, for a process that may not be inspected, usually another user's. On macOS, any open
    file is returned, because the system does not report how a file is open.
    """
    if not USES_LINUX:
        files = _of_psutil(pid, lambda process: process.open_files()) or ()
        writing = (file.path for file in files if getattr(file, "mode", "w") != "r")
        return next((path for path in map(Path, writing) if is_within(path, top)), None)
    folder, prefix = f"/proc/{pid}/fd", f"{top}/"
    try:
        numbers = os.listdir(folder)  # noqa: PTH208  a tenth of the cost
    except OSError:
        return None
    for number in numbers:
        try:
            place = os.readlink(f"{folder}/{number}")  # noqa: PTH115  a tenth of the cost
        except OSError:
            continue
        if place.startswith(prefix) and not place.endswith(DELETED_SUFFIX) and _writes(pid, number):
            return Path(place)
    return None


def _writes(pid: int, number: str) -> bool:
    for line in (_read(f"/proc/{pid}/fdinfo/{number}") or b"").splitlines():
        if line.startswith(b"flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    return False


def keepers(device: int, inode: int) -> list[int]:
    """Return the sorted pids of the processes that have this file open. Processes that may not be
    inspected are missing."""
    return sorted(pid for pid in pids() if (device, inode) in _open_files(pid))


def _open_files(pid: int) -> Iterator[tuple[int, int]]:
    if not USES_LINUX:
        for file in _of_psutil(pid, lambda process: process.open_files()) or ():
            if file_status := _stat(file.path):
                yield file_status.st_dev, file_status.st_ino
        return
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208  a tenth of the cost
    except OSError:
        return
    for name in names:
        if file_status := _stat(f"{folder}/{name}"):
            yield file_status.st_dev, file_status.st_ino


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  a tenth of the cost
    except OSError:
        return None


def boot_id() -> str:
    """Return the kernel's id of this boot. If the kernel has no such id, return a text with the
    Unix time of the boot.

    macOS has an id. The time would not be constant on macOS: it changes if the clock is set.
    """
    if USES_LINUX:
        try:
            return (PROC / "sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            pass
    if IS_MACOS and (session := _boot_session()):
        return session
    return f"booted-{int(_psutil().boot_time())}"


def _boot_session() -> str:
    """Return macOS's id of this boot; empty if there is none."""
    import subprocess

    argv = (SYSCTL, "-n", "kern.bootsessionuuid")
    try:
        done = subprocess.run(argv, capture_output=True, timeout=5, check=True, text=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _psutil() -> Any:
    """Import psutil. On Linux, only `started_at` needs it, and `boot_id` if /proc has no id."""
    import psutil  # type: ignore[import-untyped]

    return psutil


def _of_psutil(pid: int, ask: Callable[[Any], _Found]) -> _Found | None:
    """Return the result of `ask`; None if the process has ended or may not be inspected."""
    psutil = _psutil()
    try:
        return ask(psutil.Process(pid))
    except (psutil.Error, OSError):
        return None


def _read(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        while part := os.read(descriptor, 65_536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _entry_of_proc(pid: int) -> ProcessEntry | None:
    raw = _read(f"/proc/{pid}/stat")
    if not raw:
        return None
    # The name in parentheses may contain any character, including parentheses and spaces.
    fields = raw[raw.rindex(b")") + 2 :].split()
    # A process whose main thread has ended while another thread runs looks like a zombie, but is
    # alive.
    ended = fields[0] in (b"X", b"x") or (fields[0] == b"Z" and int(fields[17]) <= 1)
    return ProcessEntry(pid, int(fields[1]), int(fields[19]), ended)


def _entry_of_psutil(pid: int) -> ProcessEntry | None:
    def ask(process: Any) -> ProcessEntry:
        with process.oneshot():
            # psutil itself compares `_ident`, because `create_time` changes with the clock. On
            # Linux, the time in `_ident` is relative to the boot.
            started = process._ident[1]
            ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            return ProcessEntry(pid, process.ppid(), round(started * 100), ended)

    psutil = _psutil()
    return _of_psutil(pid, ask)

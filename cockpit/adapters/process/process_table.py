"""Read the machine's process table. Sends no signals.

Reads /proc, which is exact and cheap; without it, uses psutil.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()
PSEUDO_TERMINALS = range(136, 144)
"""Major device numbers of /dev/pts."""
CONSOLES = 4
DELETED_SUFFIX = " (deleted)"
"""Suffix of the kernel for the name of a deleted file."""


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One process at this moment."""

    pid: int
    parent: int
    started: int
    """Clock ticks after boot; without /proc, hundredths of a second since 1970."""
    ended: bool
    """It is a zombie: it has ended, and its parent has not collected it yet."""


def entry(pid: int) -> ProcessEntry | None:
    """Return the process of that pid, or None."""
    return _entry_of_proc(pid) if HAS_PROC else _entry_of_psutil(pid)


def pids() -> list[int]:
    """Return all pids, in no order."""
    if HAS_PROC:
        return [
            int(name)
            for name in os.listdir(PROC)  # noqa: PTH208  a tenth of the cost
            if name.isdigit()
        ]
    return list(_psutil().pids())


def carries(pid: int, variable: bytes) -> bool:
    """Return whether the process started with this `NAME=value`; False if that cannot be read."""
    if HAS_PROC:
        raw = _read(f"/proc/{pid}/environ")
        return raw is not None and variable in raw.split(b"\0")
    psutil = _psutil()
    try:
        environment = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return False
    name, _, value = os.fsdecode(variable).partition("=")
    return bool(environment.get(name) == value)


def variable(pid: int, name: bytes) -> bytes | None:
    """Return a variable's value when the process started; None if that cannot be read."""
    held = (_read(f"/proc/{pid}/environ") or b"").split(b"\0")
    found = [entry.partition(b"=")[2] for entry in held if entry.startswith(name + b"=")]
    return found[0] if found else None


def variables(pid: int, names: Collection[str]) -> dict[str, str]:
    """Return these variables as the process started with them; empty if they cannot be read."""
    if HAS_PROC:
        held = (_read(f"/proc/{pid}/environ") or b"").split(b"\0")
        pairs = (os.fsdecode(one).partition("=") for one in held)
        return {name: value for name, _, value in pairs if name in names}
    psutil = _psutil()
    try:
        environment = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return {}
    return {name: environment[name] for name in names if name in environment}


def terminal(pid: int) -> str:
    """Return a process's controlling terminal, such as `pts/3`; empty for none."""
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
    raw = _read(f"/proc/{pid}/cmdline") or b""
    return tuple(os.fsdecode(one) for one in raw.rstrip(b"\0").split(b"\0")) if raw else ()


def directory(pid: int) -> Path | None:
    """Return a process's working directory; None if it cannot be read."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def name(pid: int) -> str | None:
    """Return the kernel's name of the program, at most 15 characters; untrusted text."""
    raw = _read(f"/proc/{pid}/comm")
    return None if raw is None else raw.decode("utf-8", "replace").rstrip("\n")


def written_below(pid: int, top: Path) -> Path | None:
    """Return a file below a folder that the process has open for writing; None if there is none.

    Also None for a process that may not be inspected, usually another user's.
    """
    folder, prefix = f"/proc/{pid}/fd", f"{top}/"
    try:
        numbers = os.listdir(folder)  # noqa: PTH208  a tenth of the cost
    except OSError:
        return None
    for number in numbers:
        try:
            place = os.readlink(f"{folder}/{number}")  # noqa: PTH115  as above
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
    """Return the visible processes that have this file open; empty without /proc."""
    if not HAS_PROC:
        return []
    return sorted(pid for pid in pids() if (device, inode) in _open_files(pid))


def _open_files(pid: int) -> Iterator[tuple[int, int]]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208  a tenth of the cost
    except OSError:
        return
    for name in names:
        try:
            found = os.stat(f"{folder}/{name}")  # noqa: PTH116  as above
        except OSError:
            continue
        yield found.st_dev, found.st_ino


def boot_id() -> str:
    """Return the kernel's boot id; without one, the second of the boot."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return f"booted-{int(_psutil().boot_time())}"


def _psutil() -> Any:
    """Import psutil; only used without /proc."""
    import psutil  # type: ignore[import-untyped]

    return psutil


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
    # The name in parentheses may contain anything, parentheses and spaces too.
    fields = raw[raw.rindex(b")") + 2 :].split()
    # A leader that has ended while another thread runs looks like a zombie but is none.
    ended = fields[0] in (b"X", b"x") or (fields[0] == b"Z" and int(fields[17]) <= 1)
    return ProcessEntry(pid, int(fields[1]), int(fields[19]), ended)


def _entry_of_psutil(pid: int) -> ProcessEntry | None:
    psutil = _psutil()
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return ProcessEntry(
                pid,
                process.ppid(),
                int(process.create_time() * 100),
                process.status() == psutil.STATUS_ZOMBIE,
            )
    except (psutil.Error, OSError):
        return None

"""What the kernel did for a supervisor, in order: `strace` around it, read back as deeds.

Independent of cockpit's own code and of the traps: syncs, names given, locks, signals, programs
started and ended, and which state of a handoff was in what SQLite wrote. Only root or the owner of
the processes can trace; where it is not possible, `reason_against` says why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from cockpit.core.handoff.record import TAGS

Kind = Literal["sync", "sync all", "name", "remove", "lock", "state", "signal", "exec", "exit"]

CALLS = (
    "fsync,fdatasync,sync,syncfs,rename,renameat,renameat2,link,linkat,unlink,unlinkat,flock,"
    "kill,tgkill,pidfd_send_signal,pwrite64,execve,exit_group"
)
STRINGS = 6000
"""Characters of each string: a whole page of SQLite, escaped."""

_LINE = re.compile(r"(?P<pid>\d+)\s+(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
_CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)")
_FILE = re.compile(r"(?:\d+|AT_FDCWD)<((?:[^<>\\]|\\.)*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_STATE = re.compile(r'\\"is\\": \\"(\w+)\\"')


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that was done, and succeeded."""

    kind: Kind
    pid: int = 0
    """The thread that did it; for an end, the one that ended."""
    path: str = ""
    """What was synced (`sync all`: and its whole file system), removed or locked; the new name
    that a file was given."""
    source: str = ""
    """The file that was given a name."""
    target: int = 0
    """Who was signalled."""
    number: str = ""
    """The signal, or how it was locked."""
    states: tuple[str, ...] = ()
    """States of handoffs in the page that was written to `path`."""
    words: tuple[str, ...] = ()
    """The arguments of a program."""


@cache
def reason_against() -> str | None:
    """Why nothing can be traced here; None if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    asked = ["strace", *OPTIONS, "-o", os.devnull, "true"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"strace cannot trace here: {done.stderr.strip()[-200:]}"
    return None


OPTIONS = (
    "--follow-forks --seccomp-bpf --quiet=attach,personality "
    f"--decode-fds=path,pidfd --string-limit={STRINGS} --signal=!SIGCHLD --trace={CALLS}"
).split()


def traced(command: list[str], log: Path) -> list[str]:
    """The command, with everything it starts, written down."""
    return ["strace", *OPTIONS, "--output", str(log), "--", *command]


def deeds(text: str) -> Iterator[Deed]:
    """What the log says, in order. A call counts when it returned, a signal when it was sent."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        if (found := _LINE.match(line)) is None:
            continue
        pid, rest = found["pid"], found["rest"]
        if rest.startswith("+++"):
            yield Deed("exit", int(pid))
            continue
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest.removesuffix("<unfinished ...>")
            if rest.startswith("pidfd_send_signal"):
                yield from _deed(int(pid), begun.pop(pid).rstrip() + ") = 0")
            continue
        if (resumed := _RESUMED.match(rest)) is not None:
            if pid not in begun:
                continue
            rest = begun.pop(pid) + resumed[2]
        yield from _deed(int(pid), rest)


def _deed(pid: int, text: str) -> Iterator[Deed]:
    found = _CALL.match(text)
    if found is None or found[3].startswith("-"):
        return
    call, words = found[1], found[2]
    files, texts = _FILE.findall(words), _TEXT.findall(words)
    if call in ("fsync", "fdatasync") and files:
        yield Deed("sync", pid, files[0])
    elif call == "syncfs" and files:
        yield Deed("sync all", pid, files[0])
    elif call == "sync":
        yield Deed("sync all", pid)
    elif call in ("rename", "renameat", "renameat2", "link", "linkat") and len(texts) >= 2:
        source, path = _joined(files, 0, texts[0]), _joined(files, 1, texts[1])
        yield Deed("name", pid, path, source=source)
    elif call in ("unlink", "unlinkat") and texts:
        yield Deed("remove", pid, _joined(files, 0, texts[0]))
    elif call == "flock" and files and "LOCK_UN" not in words:
        yield Deed("lock", pid, files[0], number="LOCK_EX" if "LOCK_EX" in words else "LOCK_SH")
    elif call == "pwrite64" and files:
        states = tuple(each for each in _STATE.findall(texts[0] if texts else "") if each in TAGS)
        if states:
            yield Deed("state", pid, files[0], states=states)
    elif call == "pidfd_send_signal":
        target = re.search(r"<pid:(\d+)>", words)
        number = re.search(r"\bSIG\w+", words)
        if target and number:
            yield Deed("signal", pid, target=int(target[1]), number=number[0])
    elif call in ("kill", "tgkill"):
        number = re.search(r"\bSIG\w+", words)
        if number:
            yield Deed("signal", pid, target=int(words.split(",")[0]), number=number[0])
    elif call == "execve":
        yield Deed("exec", pid, texts[0] if texts else "", words=tuple(map(_plain, texts[1:])))


def _joined(files: list[str], place: int, name: str) -> str:
    """A name in the folder that a descriptor stands for; `rename` has none."""
    return os.path.join(files[place], name) if place < len(files) else name  # noqa: PTH118


def _plain(text: str) -> str:
    """An argument without strace's escapes, as far as anybody compares it."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")

"""The real world of a supervisor, where every reach into it passes a trap first and afterwards.

Ports are wrapped, the database's statements counted one by one, signals one by one, and files by
the interpreter's own audit of what opens, renames and removes them. Nothing in cockpit knows of it.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Self, cast

from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.store.store import Store
from cockpit.adapters.tmux.panes import Tmux
from cockpit.config.paths import Places
from cockpit.core.capabilities import EndSignal
from cockpit.core.errors import Failed
from cockpit.ports.panes import PanesSilent
from cockpit.ports.processes import Ending, ProcessId
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import EventLog
from cockpit.supervisor.main import dependencies
from tests.faults import power
from tests.faults.tampering import CLOSED_BY, Tampering
from tests.faults.trap import Refusal, Trap

PATIENCE = 0.4
"""Seconds after TERM in place of six: a deaf agent is not waited for in every cycle."""
PANES = {"start_server", "open", "reopen", "paste", "press", "close", "look"}
DOCUMENTS = {"draft_path", "discard_draft", "seal", "reseal", "leave_notice", "withdraw_notice"}
RUNTIME = {"launch", "ask", "withdraw_ask"}
BEGINS = "band.act"
"""The latch that arms a first supervisor's trap: the mark is crossed, and nothing begun."""
VARIES = re.compile(r"[0-9a-f-]{4,}|\d+")
"""What is another one in each run: ids, times, numbers."""
TEMPORARY = re.compile(r"-[a-z0-9_]{8}$")
"""What `tempfile` puts at the end of a name."""
STATE = re.compile(r'"state": \{"is": "(\w+)"')
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Passing:
    """Anything real, some of whose calls pass the trap."""

    def __init__(
        self, real: object, name: str, calls: set[str], trap: Trap, refusal: Refusal
    ) -> None:
        self._real, self._name, self._calls = real, name, calls
        self._trap, self._refusal = trap, refusal

    def __getattr__(self, attribute: str) -> Any:
        real = getattr(self._real, attribute)
        if attribute not in self._calls:
            return real
        return (
            self._awaited(attribute, real)
            if iscoroutinefunction(real)
            else self._called(attribute, real)
        )

    def _called(self, attribute: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            self._trap.reach(f"{self._name}.{attribute} before", self._refusal)
            answer = real(*args, **named)
            self._trap.reach(f"{self._name}.{attribute} after")
            return answer

        return call

    def _awaited(self, attribute: str, real: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            self._trap.reach(f"{self._name}.{attribute} before", self._refusal)
            answer = await real(*args, **named)
            # An act that was done and reported as failed is the worst kind of silence.
            self._trap.reach(f"{self._name}.{attribute} after", self._refusal, writes=False)
            return answer

        return call


class CountedConnection:
    """A database connection whose every writing statement passes the trap."""

    def __init__(self, real: sqlite3.Connection, trap: Trap) -> None:
        self._real, self._trap = real, trap

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        words = sql.split()[:3]
        if words[0] not in {"insert", "update", "delete", "begin", "commit"}:
            return self._real.execute(sql, values)
        name = " ".join(words[:1] if words[0] in {"begin", "commit", "update"} else words)
        if words[-1] == "handoffs":
            name += next((f" {found[1]}" for value in values if (found := state_in(value))), "")
        self._trap.armed = self._trap.armed or BEGINS in values
        self._trap.reach(f"sql.{name} before", sql_refusal)
        done = self._real.execute(sql, values)
        self._trap.reach(f"sql.{name} after")
        return done

    @property
    def in_transaction(self) -> bool:
        return self._real.in_transaction

    def close(self) -> None:
        self._real.close()


def state_in(value: object) -> re.Match[str] | None:
    """The state of a handoff's record, as it is written down."""
    return STATE.search(value) if isinstance(value, str) else None


class CountedStore(Store):
    """The store over a counted connection."""

    def __init__(self, path: Path, trap: Trap) -> None:
        self._trap = trap
        super().__init__(path)

    def open(self) -> Self:
        super().open()
        self._database = cast(sqlite3.Connection, CountedConnection(self._database, self._trap))
        return self


class CountedProcesses(LocalProcesses):
    """Real processes; every single signal passes the trap."""

    def __init__(self, trap: Trap) -> None:
        super().__init__()
        self._trap = trap

    def signal(self, process: ProcessId, number: int) -> bool:
        self._trap.reach("processes.signal before", OS_REFUSAL, writes=False)
        done = super().signal(process, number)
        self._trap.reach("processes.signal after")
        return done

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        return await super().end(process, marker, patience=min(patience, PATIENCE), first=first)


def sql_refusal(number: int) -> Exception:
    """What SQLite says of a full disk, and of a broken one."""
    full = number == errno.ENOSPC
    return sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")


def silence(number: int) -> Exception:
    return PanesSilent("tmux gave no answer", os.strerror(number))


def refused(number: int) -> Exception:
    return Failed("It could not be written", os.strerror(number))


def OS_REFUSAL(number: int) -> Exception:
    return OSError(number, os.strerror(number))


def broken(places: Places, trap: Trap) -> Dependencies:
    """The supervisor's own instruments, each with the trap before it."""
    real = dependencies(places)
    real.store.close()
    store = CountedStore(places.database, trap).open()
    processes = CountedProcesses(trap)
    panes = Tmux(places.tmux_socket, places.tmux_config, real.environment, processes=processes)
    runtimes: dict[str, Any] = {}

    def runtime(name: str) -> Any:
        if name not in runtimes:
            runtimes[name] = Passing(real.runtimes(name), "runtime", RUNTIME, trap, OS_REFUSAL)
        return runtimes[name]

    listen(trap, places)
    trap.tamper, trap.closed_by = Tampering(places).do, CLOSED_BY
    assert places.home is not None
    trap.cut = partial(power.cut, places.home.parent)
    return replace(
        real,
        store=store,
        event_log=EventLog(store, real.clock),
        panes=cast(Any, Passing(panes, "panes", PANES, trap, silence)),
        processes=cast(Any, processes),
        documents=cast(Any, Passing(real.documents, "documents", DOCUMENTS, trap, refused)),
        runtimes=runtime,
    )


def listen(trap: Trap, places: Places) -> None:
    """Have the interpreter tell of every file that is opened for writing, renamed or removed."""
    above = str(places.home.parent if places.home else places.state)
    unseen = {"supervisor.log", "points"}

    def heard(event: str, args: tuple[Any, ...]) -> None:
        if not trap.armed:
            return
        if event == "open" and isinstance(args[2], int) and args[2] & WRITING:
            if isinstance(args[0], int):
                return  # opened before, and only given an object now
            path = os.fspath(args[0])
            if in_ours(path, above) and Path(path).name not in unseen:
                trap.reach(f"file.open {shape(path)}", OS_REFUSAL)
        elif event in ("os.rename", "os.link", "os.mkdir"):
            trap.reach(f"file.{event[3:]} {shape(args[0])}", OS_REFUSAL)
        elif event == "os.remove":
            trap.reach(f"file.remove {shape(args[0])}", OS_REFUSAL, writes=False)
        elif event == "subprocess.Popen":
            words = [os.fsdecode(each) for each in args[1]]
            trap.reach(f"fork {Path(words[0]).name}", too_many, writes=False)

    sys.addaudithook(heard)
    os.fsync = synced(trap)


def synced(trap: Trap) -> Callable[..., None]:
    """`fsync` behind the trap: the one reach into files that the interpreter does not tell of."""
    real = os.fsync

    def fsync(descriptor: Any) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        trap.reach(f"file.fsync {shape(path)}", OS_REFUSAL)
        real(descriptor)
        trap.reach(f"file.fsync {shape(path)} after")

    return fsync


def too_many(_number: int) -> Exception:
    return BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def in_ours(path: str | bytes, above: str) -> bool:
    """Under our folder, or named by a descriptor of a folder (a bare name)."""
    text = os.fsdecode(path)
    return text.startswith(above) or "/" not in text


def shape(path: object) -> str:
    """A path without what differs from run to run."""
    name = Path(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else "fd").name
    if name.startswith("."):
        name = name.rpartition("-")[0] or name  # what follows is a temporary file's own
    return VARIES.sub("#", TEMPORARY.sub("-#", name))[:32]

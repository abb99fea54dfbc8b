"""In which order a handoff must reach the disk and the processes: each violation is a sentence.

Reads only deeds that the kernel did (`kernel_log`) and what the flight says that it was: no word
of the supervisor is taken for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.adapters.agents.claude.permission_modes import MODES
from cockpit.core.permission import EVERYTHING
from tests.faults.kernel_log import Deed

STANDIN = "cockpit.demo.standin"
BEHIND = ("Stopping", "Starting", "Confirming", "Reviving", "Ended")
"""States that say that the old session may be ended."""
ENDING = ("SIGTERM", "SIGKILL", "SIGHUP", "SIGINT")


@dataclass(frozen=True, slots=True)
class Expected:
    """What one handoff was to do."""

    old: str
    """The session that hands over."""
    successors: tuple[str, ...]
    document: str
    copy: str
    leases: str
    """The folder with a lock for each agent."""
    claim: str | None = None
    """The lock of the worktree, where the agent has one of its own."""


@dataclass(slots=True)
class Disk:
    """What would be there after a power cut."""

    synced: set[str] = field(default_factory=set)
    unsynced_names: dict[str, bool] = field(default_factory=dict)
    """Names given and not yet synced with their folder; whether the file's bytes were."""
    whole: set[str] = field(default_factory=set)
    """Files whose bytes and name were synced."""
    written: dict[str, set[str]] = field(default_factory=dict)
    states: set[str] = field(default_factory=set)
    """States of a handoff that SQLite wrote and synced."""

    def take(self, deed: Deed) -> None:
        if deed.kind == "sync":
            self.synced.add(deed.path)
            for name in [n for n in self.unsynced_names if os.path.dirname(n) == deed.path]:  # noqa: PTH120
                if self.unsynced_names.pop(name):
                    self.whole.add(name)
            self.states |= self.written.pop(deed.path, set())
        elif deed.kind == "name":
            self.unsynced_names[deed.path] = deed.source in self.synced
            self.whole.discard(deed.path)
        elif deed.kind == "remove":
            self.whole.discard(deed.path)
            self.synced.discard(deed.path)
            self.unsynced_names.pop(deed.path, None)
        elif deed.kind == "state":
            self.written.setdefault(deed.path, set()).update(deed.states)


@dataclass(frozen=True, slots=True)
class Program:
    """An agent as it was started."""

    session: str
    agent: str
    """By the settings that it was given: each agent has its own."""
    mode: str
    arguments: tuple[str, ...]
    """Without session and prompt: what must be the same in every session of a job."""


def program(deed: Deed) -> Program | None:
    """The agent that this deed started; None for any other program."""
    words = deed.words
    if not any(STANDIN in word for word in words):
        return None
    session = _after(words, "--session-id") or _after(words, "--resume")
    if session is None:
        return None
    until = words.index("--") if "--" in words else len(words)
    # The first words are the interpreter's.
    begin = next(place for place, word in enumerate(words) if STANDIN in word)
    fixed = tuple(
        "--session" if word in ("--session-id", "--resume") else word
        for word in words[begin + 1 : until]
        if word != session
    )
    agent = Path(_after(words, "--settings") or "").stem
    return Program(session, agent, _after(words, "--permission-mode") or "", fixed)


@dataclass(slots=True)
class Launches:
    """What the disk knew when each pane was asked for; the agent comes to be a little later."""

    asked: dict[str, set[str]] = field(default_factory=dict)
    """By the order that the launcher is to carry out."""
    known: dict[int, set[str]] = field(default_factory=dict)
    """By the process that carries it out, and becomes the agent."""

    def take(self, deed: Deed, states: set[str]) -> None:
        if any(word.endswith("launcher.py") for word in deed.words):
            order = next((word for word in deed.words if word.endswith(".order")), "")
            if deed.path.endswith("tmux"):
                self.asked.setdefault(order, set(states))
            elif order in self.asked:
                self.known[deed.pid] = self.asked[order]


def violations(deeds: Iterable[Deed], expected: Expected, *, ended_by_hand: bool) -> Iterator[str]:
    """Everything that was done too early, or not at all, before what cannot be undone."""
    disk, locks = Disk(), dict[int, set[str]]()
    agents: dict[int, Program] = {}
    launches, known_sessions = Launches(), set[str]()
    ended: set[int] = set()
    asked: set[int] = set()
    for deed in deeds:
        disk.take(deed)
        if deed.kind == "name" and deed.path == expected.document:
            if expected.copy not in disk.whole:
                yield "the document got its name before our copy was synced"
        elif deed.kind == "lock":
            locks.setdefault(deed.pid, set()).add(deed.path)
        elif deed.kind == "exit":
            ended.add(deed.pid)
        elif deed.kind == "exec" and (started := program(deed)) is not None:
            yield from _unlocked(locks.get(deed.pid, set()), expected, started)
            yield from _crowded(agents, ended, started)
            if "--session-id" in deed.words and started.session in known_sessions:
                yield f"{started.session} was started a second time"
            known_sessions.add(started.session)
            if started.session in expected.successors:
                known = launches.known.get(deed.pid, disk.states)
                yield from _succeeded(agents, known, started, expected)
            agents[deed.pid] = started
            ended.discard(deed.pid)
        elif deed.kind == "exec":
            launches.take(deed, disk.states)
        elif deed.kind == "signal" and deed.number in ENDING and deed.pid not in agents:
            if deed.number == "SIGKILL" and deed.target in agents and deed.target not in asked:
                yield f"{agents[deed.target].session} got KILL and was never asked with TERM"
            asked.add(deed.target)
            struck = agents.get(deed.target)
            if struck is not None and struck.session == expected.old and not ended_by_hand:
                yield from _ended_early(disk, expected, deed)


def _ended_early(disk: Disk, expected: Expected, deed: Deed) -> Iterator[str]:
    what = f"the old session got {deed.number}"
    if not disk.states.intersection(BEHIND):
        yield f"{what} before its intent was synced: the disk knows {sorted(disk.states)}"
    for name, path in (("document", expected.document), ("copy", expected.copy)):
        if path not in disk.whole:
            yield f"{what} before its {name} was synced, named and its folder synced"


def _crowded(agents: dict[int, Program], ended: set[int], started: Program) -> Iterator[str]:
    for pid, other in agents.items():
        if pid not in ended and other.agent == started.agent:
            yield f"{started.session} was started while {other.session} (process {pid}) lived"


def _succeeded(
    agents: dict[int, Program], known: set[str], started: Program, expected: Expected
) -> Iterator[str]:
    if not known.intersection(BEHIND[1:]):
        yield f"{started.session} was started before that was synced as an intent"
    before = next((each for each in agents.values() if each.session == expected.old), None)
    if before is None:
        return
    if not MODES.get(started.mode, EVERYTHING).within(MODES.get(before.mode, EVERYTHING)):
        yield f"{started.session} may do more: {started.mode} after {before.mode}"
    if started.arguments != before.arguments:
        yield f"{started.session} got {started.arguments}, and {expected.old} {before.arguments}"


def _unlocked(held: set[str], expected: Expected, started: Program) -> Iterator[str]:
    own = os.path.join(expected.leases, f"{started.agent}.lock")  # noqa: PTH118
    for path in filter(None, (own, expected.claim)):
        if path not in held:
            yield f"{started.session} was started without the lock {path}"


def _after(words: tuple[str, ...], flag: str) -> str | None:
    place = words.index(flag) + 1 if flag in words else len(words)
    return words[place] if place < len(words) else None

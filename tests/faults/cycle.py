"""One flight with faults: a supervisor that is hurt, brought back, hurt again, and judged."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.client.http import HttpClient
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.demo.leftovers import send
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve
from tests.faults.judge import misplaced, violations
from tests.faults.nursery import Nursery
from tests.faults.trap import Fault, Reached, reached
from tests.faults.witness import Witness, lives, rows, standing, state_hash, wait_dead

LIVENESS = 30.0
"""Seconds without a fault in which a flight must come to an end or to a named state."""
LOOK = 0.08
"""Seconds between two questions to the supervisor."""
SWAPPING = {"Stopping", "Starting", "Reviving"}
"""States in which recovery may end or start a process."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """What is flown, and what goes wrong in it."""

    first: tuple[Fault, ...] = ()
    """In the supervisor that begins the handoff, counted from its beginning."""
    second: tuple[Fault, ...] = ()
    """In the one that comes back after a kill, counted from its start."""
    mode: str = "auto"
    faults: str = ""
    """Of the agents: `STANDIN_FAULTS`."""
    working: bool = False
    """The agent is in the middle of a turn, not idle, when its handoff begins."""
    worktree: bool = False
    """It has a git worktree of its own, which cockpit made; else it works in the repository."""

    def __str__(self) -> str:
        hurt = [f"{each.kind}@{each.at}" for each in self.first]
        again = [f"{each.kind}@{each.at}" for each in self.second]
        words = [" ".join(hurt) or "no fault"]
        words += [f"then {' '.join(again)}"] if again else []
        place = "worktree" if self.worktree else "repository"
        doing = "working" if self.working else "idle"
        return ", ".join([*words, self.mode, self.faults or "-", doing, place])


@dataclass(slots=True)
class Flown:
    """What came of it."""

    cycle: Cycle
    wrong: list[str] = field(default_factory=list)
    outcome: str = ""
    points: list[Reached] = field(default_factory=list)
    """What the first supervisor reached."""
    again: list[Reached] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    """Seconds from a restart to the first answer."""
    samples: int = 0
    seconds: float = 0.0
    kept: Path | None = None

    @property
    def struck(self) -> bool:
        """Whether something was to go wrong, and did."""
        return any(each.sprung for each in self.points)

    @property
    def struck_again(self) -> bool:
        """Whether the recovery was to be hurt as well, and was."""
        return any(each.sprung for each in self.again)

    @property
    def counts(self) -> bool:
        """Whether all of it happened that makes this cycle another one than those before it."""
        return self.struck and (self.struck_again or not self.cycle.second)


@contextmanager
def folder(template: Path, keep: list[Path]) -> Iterator[Path]:
    """A home with a repository; nobody is left in it, and it is removed unless it is kept."""
    home = Path(tempfile.mkdtemp(prefix="ckfaults-", dir=memory()))
    shutil.copytree(template, home / "repository")
    (home / "home").mkdir()
    try:
        yield home
    finally:
        bury(home)
        if not keep:
            shutil.rmtree(home, ignore_errors=True)


def memory() -> str | None:
    """A folder in memory, where there is one: thousands of syncs need no disk to wait for."""
    shared = "/dev/shm"
    return shared if os.access(shared, os.W_OK | os.X_OK) else None


def bury(home: Path) -> None:
    """End whoever carries the folder."""
    witness = Witness(home)
    witness.close()
    end = time.monotonic() + 10
    while (left := [pid for pid in witness.ours() if lives(pid)]) and time.monotonic() < end:
        for pid in left:
            send(pid, signal.SIGKILL)
        time.sleep(0.005)


def environment(home: Path, bin_folder: Path) -> dict[str, str]:
    return {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home / "home"),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "COCKPIT_HOME": str(home / "ck"),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
    }


def configuration(home: Path, cycle: Cycle) -> Path:
    # Past the act mark at once, and so far from compacting that a fast agent never gets there.
    conduct: dict[str, object] = {
        "pace": 0,
        "window": 1_000_000,
        "opening_tokens": 330_000,
        "step_tokens": 10,
    }
    conduct |= {"steps": 100, "pace": 0.03} if cycle.working else {"steps": 6, "pause": 2}
    conduct |= {"faults": cycle.faults}
    place = 'worktree = { strategy = "git_worktree" }\n' if cycle.worktree else ""
    env = ", ".join(f'STANDIN_{key.upper()} = "{value}"' for key, value in conduct.items())
    path = home / "cockpit.toml"
    path.write_text(
        '[defaults]\nruntime = "claude"\npermission_mode = "acceptEdits"\n'
        '[defaults.handoff]\nwriters = ["agent", "facts"]\ndeadline = "10s"\n'
        f'[[agents]]\nname = "api"\nmode = "{cycle.mode}"\nstart = "auto"\n'
        f"directory = {json.dumps(str(home / 'repository'))}\n"
        f'prompt = "Count the steps."\nenv = {{ {env} }}\n{place}'
    )
    return path


class Flight:
    """One cycle while it is flown."""

    def __init__(self, cycle: Cycle, home: Path, bin_folder: Path, nursery: Nursery) -> None:
        self.cycle, self.home, self._nursery = cycle, home, nursery
        self._environment = environment(home, bin_folder)
        self._config = configuration(home, cycle)
        self.places = Places.of(self._environment)
        self.client = HttpClient(self.places.socket)
        self.flown = Flown(cycle)
        self.witness = Witness(home)
        self._births = 0
        self._pid = 0

    def bear(self, faults: tuple[Fault, ...], *, armed: bool) -> None:
        self._births += 1
        log = self.home / f"points-{self._births}"
        self._pid = self._nursery.bear(self._environment, self._config, log, faults, armed=armed)
        self._born = time.monotonic()

    async def row(self) -> AgentStatus | None:
        with suppress(CockpitError, OSError, TimeoutError):
            status = await self.client.status()
            return next((each for each in status.agents if each.name == "api"), None)
        return None

    async def fly(self) -> Flown:
        """From the first supervisor to the last judgement."""
        began = time.monotonic()
        try:
            row = await self._see_through()
            await asyncio.sleep(LOOK)
            row = await self.row() or row
            self.flown.wrong += violations(self.places, self.home, self.witness, row)
            self.flown.wrong += misplaced(
                self.places, self.home, self.witness, apart=self.cycle.worktree
            )
            await self._again(row)
        finally:
            self.witness.close()
            self.flown.samples = self.witness.samples
        self.flown.points = reached(self.home / "points-1")
        self.flown.again = reached(self.home / "points-2") if self.cycle.second else []
        self.flown.seconds = time.monotonic() - began
        return self.flown

    async def _see_through(self) -> AgentStatus | None:
        """Fly until the handoff is over or stands before the pilot; the last row."""
        self.bear(self.cycle.first, armed=False)
        answered = deaths = 0
        row = None
        while time.monotonic() - self._born < LIVENESS:
            if not lives(self._pid):
                deaths += 1
                if deaths > len(self.cycle.first + self.cycle.second) + 1:
                    self.flown.wrong.append(f"the supervisor ended by itself: {self._last_words()}")
                    return row
                await self._come_back(deaths)
                answered = 0
            seen = await self.row()
            if seen is not None:
                row = seen
                if not answered and deaths:
                    self.flown.recoveries.append(time.monotonic() - self._born)
                answered += 1
                await self._answer(seen)
                if over := self._outcome(seen):
                    self.flown.outcome = over
                    # Nobody typed, nobody said no, and it is far from compacting.
                    if over.startswith(("cancelled", "refused")):
                        self.flown.wrong.append(f"{over}, and nobody wanted that")
                    return seen
            await asyncio.sleep(LOOK)
        self.flown.outcome = "stuck"
        told = row and (row.state, row.needs, row.note, row.handoff)
        self.flown.wrong.append(f"no end after {LIVENESS:.0f} s: {told}; {self._standing()}")
        return row

    async def _come_back(self, deaths: int) -> None:
        """A supervisor is dead: nobody but it has gone, and another one comes."""
        state, before = self._standing(), self.witness.agents()
        await asyncio.sleep(LOOK)
        after = self.witness.agents()
        # A launcher may become an agent meanwhile; nobody may go.
        if state not in SWAPPING and (gone := before - after):
            self.flown.wrong.append(f"its death in {state} took agents along: {gone}")
        self.bear(self.cycle.second if deaths == 1 else (), armed=True)

    async def _answer(self, row: AgentStatus) -> None:
        if row.needs is not None and row.needs.kind in {"handoff", "review"}:
            with suppress(CockpitError, OSError):
                await self.client.ask(Approve(name="api"))

    def _outcome(self, row: AgentStatus) -> str:
        """How the handoff ended, once it has and the row shows it; empty before."""
        if row.handoff is not None:
            return ""
        ended = rows(
            self.places.database,
            "select outcome, why from handoffs where ended is not null order by created desc",
        )
        if not ended or rows(self.places.database, "select 1 from handoffs where ended is null"):
            return ""
        if ended[0]["outcome"] == "done":
            return "done" if row.handoffs == 1 else ""
        return f"{ended[0]['outcome']}: {ended[0]['why']}"

    async def _again(self, row: AgentStatus | None) -> None:
        """One more restart changes nothing."""
        self._kill()
        before, who = state_hash(self.places.database), self.witness.agents()
        self.bear((), armed=False)
        end = time.monotonic() + LIVENESS
        while await self.row() is None and time.monotonic() < end and lives(self._pid):
            await asyncio.sleep(LOOK)
        self._kill()
        if state_hash(self.places.database) != before:
            self.flown.wrong.append("another restart changed what is written down")
        if self.witness.agents() != who:
            self.flown.wrong.append(f"another restart changed agents: {who}")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        wait_dead(self._pid)

    def _standing(self) -> str:
        try:
            return standing(self.places.database)
        except Exception as wrong:  # noqa: BLE001 - told, and judged elsewhere
            return f"unreadable: {wrong}"

    def _last_words(self) -> str:
        out = self.home / f"points-{self._births}.out"
        return out.read_text()[-2000:] if out.exists() else ""


def fly(cycle: Cycle, template: Path, bin_folder: Path, nursery: Nursery, *, keep: bool) -> Flown:
    """Fly one cycle in a folder of its own, which stays if something was wrong and `keep`."""
    kept: list[Path] = []
    with folder(template, kept) as home:
        flown = asyncio.run(Flight(cycle, home, bin_folder, nursery).fly())
        if flown.wrong and keep:
            kept.append(home)
            flown.kept = home
    return flown

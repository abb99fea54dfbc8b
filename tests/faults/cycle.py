"""One flight with faults: a supervisor that is hurt, brought back, hurt again, and judged."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.client.http import HttpClient
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError, NotNow
from cockpit.demo.leftovers import send
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Start, Stop, Verb
from tests.faults import power
from tests.faults.clients import Clients
from tests.faults.judge import (
    after_power,
    asked_in_order,
    disordered,
    lost_by_power,
    misplaced,
    undone,
    unsettled,
    untidy,
    violations,
)
from tests.faults.nursery import Nursery
from tests.faults.trap import Fault, Reached, reached
from tests.faults.witness import Witness, kept, lives, rows, standing, wait_dead

LIVENESS = 120.0
"""Seconds without a fault in which a flight must come to an end or to a named state.

A busy machine takes 30 for what usually takes 3.
"""
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
    clients: int = 0
    """The seed of two clients that ask for everything at once; 0 for none."""

    @property
    def loses_power(self) -> bool:
        """Whether the power is cut in it."""
        return any(each.kind == "CUT" for each in self.first)

    def __str__(self) -> str:
        hurt = [f"{each.kind}@{each.at}" for each in self.first]
        again = [f"{each.kind}@{each.at}" for each in self.second]
        words = [" ".join(hurt) or "no fault"]
        words += [f"then {' '.join(again)}"] if again else []
        place = "worktree" if self.worktree else "repository"
        doing = "working" if self.working else "idle"
        asked = [f"clients {self.clients}"] if self.clients else []
        return ", ".join([*words, self.mode, self.faults or "-", doing, place, *asked])


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
    deeds: int | None = None
    """What the kernel did meanwhile and was looked at; None where nothing was traced."""
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
        if self.cycle.clients and not self.cycle.first:
            return True
        return self.struck and (self.struck_again or not self.cycle.second)


@contextmanager
def folder(template: Path, keep: list[Path], *, powered: bool = False) -> Iterator[Path]:
    """A home with a repository; nobody is left in it, and it is removed unless it is kept.

    `powered` is one that the power of can be cut.
    """
    home = Path(tempfile.mkdtemp(prefix="ckfaults-", dir=memory()))
    try:
        if powered:
            power.plug_in(home)
        shutil.copytree(template, home / "repository")
        (home / "home").mkdir()
        if powered:
            power.settle(home)
        yield home
    finally:
        bury(home)
        if powered:
            power.throw_away(home)
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
    activity: dict[str, object] = {
        "pace": 0,
        "window": 1_000_000,
        "opening_tokens": 330_000,
        "step_tokens": 10,
    }
    activity |= {"steps": 100, "pace": 0.03} if cycle.working else {"steps": 6, "pause": 2}
    activity |= {"faults": cycle.faults}
    place = 'worktree = { strategy = "git_worktree" }\n' if cycle.worktree else ""
    env = ", ".join(f'STANDIN_{key.upper()} = "{value}"' for key, value in activity.items())
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
        self._boot: str | None = None
        self._pid = 0
        nursery.forget_deeds()

    def bear(self, faults: tuple[Fault, ...], *, armed: bool) -> None:
        self._births += 1
        log = self.home / f"points-{self._births}"
        self._pid = self._nursery.bear(
            self._environment, self._config, log, faults, armed=armed, boot=self._boot
        )
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
            if self.cycle.clients:
                await self._be_asked()
            else:
                await self._be_hurt()
        finally:
            self._kill()
            self.witness.close()
            self.flown.samples = self.witness.samples
            self.flown.seconds = time.monotonic() - began
        self._nursery.check()
        return self.flown

    async def _be_hurt(self) -> None:
        row = await self._see_through()
        await asyncio.sleep(LOOK)
        row = await self.row() or row
        self.flown.points = self.flown.points or reached(self.home / "points-1")
        self.flown.again = reached(self.home / "points-2")
        self._judge(row)
        await self._again(row)

    async def _be_asked(self) -> None:
        """Two clients ask at once; then one of them ends the agent, and starts it again."""
        self.bear(self.cycle.first, armed=False)
        self.flown.outcome = "asked by two clients"
        keeping = asyncio.create_task(self._keep_alive())
        clients = Clients(self.places.socket, self._config, self.cycle.clients, self._document)
        try:
            await self._until_lives(True)
            await clients.ask()
            for verb, lives_then in ((Stop(name="api"), False), (Start(name="api"), True)):
                done = await self._ask_until_done(clients, verb)
                await self._until_lives(lives_then)
                # What a verb did must still be so a moment later.
                await asyncio.sleep(10 * LOOK)
                if not done:
                    words = f"{verb.verb} was not done in {LIVENESS:.0f} s"
                    self.flown.wrong.append(f"{words}; the last answer: {clients.refusal}")
                may_wait = lives_then or clients.is_unsaved
                self.flown.wrong += await self._unsettled(lives_then, may_wait=may_wait)
            self.flown.wrong += asked_in_order(self.places, self.witness, self._nursery.deeds())
        except TimeoutError:
            row = await self.row()
            told = row and (row.state, row.pid, row.note, row.handoff)
            self.flown.wrong.append(f"it never came to rest: {told}")
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            self.flown.wrong += clients.wrong if not self._is_hurt() else []
            self.flown.points = reached(self.home / "points-1")
            self.flown.again = reached(self.home / "points-2")
            self.flown.deeds = len(self._nursery.deeds() or []) or None

    async def _unsettled(self, lives_then: bool, *, may_wait: bool) -> list[str]:
        """What is wrong at rest.

        A start past the act mark begins a handoff, which may end first, and a stop whose answer
        says that it could not be saved is saved later. After any other stop nothing is under way,
        so there is no time to come to rest.
        """
        end = time.monotonic() + (LIVENESS if may_wait else 0)
        while True:
            row = await self.row()
            wrong = list(unsettled(self.places, self.witness, row, lives=lives_then))
            if not wrong or time.monotonic() > end:
                return wrong
            await asyncio.sleep(LOOK)

    async def _keep_alive(self) -> None:
        """Another supervisor comes whenever one has died, as a person brings it back."""
        while True:
            await asyncio.sleep(LOOK)
            if not lives(self._pid):
                self.bear(self.cycle.second if self._births == 1 else (), armed=True)

    async def _ask_until_done(self, clients: Clients, verb: Verb) -> bool:
        """A refusal for now is asked again; whether it was done in time."""
        end = time.monotonic() + LIVENESS
        while time.monotonic() < end:
            if await clients.one(self.client, verb):
                return True
            row = await self.row()
            if row is not None and _is_so(row, started=verb.verb == "start"):
                return True
            await asyncio.sleep(LOOK)
        return False

    async def _until_lives(self, due: bool) -> None:
        """Until the row shows a process, or none. Raises `TimeoutError` when that does not come."""
        end = time.monotonic() + LIVENESS
        while (row := await self.row()) is None or (row.pid is not None) is not due:
            if time.monotonic() > end:
                raise TimeoutError
            await asyncio.sleep(LOOK)

    def _document(self) -> str | None:
        with suppress(sqlite3.Error):
            done = rows(
                self.places.database, "select document from handoffs where outcome = 'done'"
            )
            return str(done[-1]["document"]) if done else None
        return None

    def _is_hurt(self) -> bool:
        points = reached(self.home / "points-1") + reached(self.home / "points-2")
        return any(each.sprung for each in points)

    def _judge(self, row: AgentStatus | None) -> None:
        wrong, flown = self.flown.wrong, self.flown
        if self._boot is not None:
            wrong += after_power(self.places, self.witness, row)
            return
        wrong += violations(self.places, self.home, self.witness, row)
        wrong += misplaced(self.places, self.home, self.witness, apart=self.cycle.worktree)
        wrong += undone(self.places, self.home, flown.outcome)
        if not any(each.sprung for each in flown.points + flown.again):
            wrong += untidy(self.places, self.home)
        deeds = self._nursery.deeds()
        if deeds is not None:
            flown.deeds = len(deeds)
            wrong += disordered(self.places, deeds)

    async def _see_through(self) -> AgentStatus | None:
        """Fly until the handoff is over or stands before the user; the last row."""
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
        if self.cycle.loses_power and self._boot is None:
            self._lose_power()
            self.bear(self.cycle.second, armed=True)
            return
        state, before = self._standing(), self.witness.agents()
        await asyncio.sleep(LOOK)
        after = self.witness.agents()
        # A launcher may become an agent meanwhile; nobody may go.
        if state not in SWAPPING and (gone := before - after):
            self.flown.wrong.append(f"its death in {state} took agents along: {gone}")
        self.bear(self.cycle.second if deaths == 1 else (), armed=True)

    def _lose_power(self) -> None:
        """Everybody ends with the machine; it is switched on again with what was on its disk."""
        self.flown.points = reached(self.home / "points-1")
        bury(self.home)
        if not any(each.sprung == "CUT" for each in self.flown.points):
            return  # killed before: there is a whole disk
        power.switch_on(self.home)
        self._boot = "after the power cut"
        self.flown.wrong += lost_by_power(self.places, self.flown.points)

    async def _answer(self, row: AgentStatus) -> None:
        if row.needs is not None and row.needs.kind in {"handoff", "review"}:
            with suppress(CockpitError, OSError):
                try:
                    await self.client.ask(Approve(name="api"))
                except NotNow:
                    # Somebody changed the document under review: it is read again, then approved.
                    if row.needs.kind == "review" and row.handoff and row.handoff.document:
                        read = Path(row.handoff.document).read_bytes()
                        seen = hashlib.sha256(read).hexdigest()
                        await self.client.ask(Approve(name="api", sha256=seen))

    def _outcome(self, row: AgentStatus) -> str:
        """How the handoff ended, once it has and the row shows it; empty before."""
        if row.handoff is not None:
            return ""
        if self._boot is not None and not row.pid and row.state in {"exited", "needs_you"}:
            return "ended with the machine"
        ended = rows(
            self.places.database,
            "select outcome, why from handoffs where ended is not null order by created desc",
        )
        if not ended or rows(self.places.database, "select 1 from handoffs where ended is null"):
            return ""
        if row.pid is None and rows(
            self.places.database, "select 1 from sessions where state = 'live'"
        ):
            # The end of the handoff is written before the end of a session without a process.
            return ""
        if ended[0]["outcome"] == "done":
            return "done" if row.handoffs == 1 else ""
        return f"{ended[0]['outcome']}: {ended[0]['why']}"

    async def _again(self, row: AgentStatus | None) -> None:
        """One more restart changes nothing."""
        self._kill()
        before, who = kept(self.places.database), self.witness.agents()
        self.bear((), armed=False)
        end = time.monotonic() + LIVENESS
        while await self.row() is None and time.monotonic() < end and lives(self._pid):
            await asyncio.sleep(LOOK)
        self._kill()
        after = kept(self.places.database)
        if after != before:
            names = sorted(
                each for each in before.keys() | after.keys() if before.get(each) != after.get(each)
            )
            changes = [f"{each}: {before.get(each)!r} -> {after.get(each)!r}" for each in names]
            self.flown.wrong.append(f"another restart changed {'; '.join(changes)[:1000]}")
        if self.witness.agents() != who:
            self.flown.wrong.append(f"another restart changed agents: {who}")

    def _kill(self) -> None:
        if not self._pid:
            return
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
    with folder(template, kept, powered=cycle.loses_power) as home:
        flown = asyncio.run(Flight(cycle, home, bin_folder, nursery).fly())
        if flown.wrong and keep and not cycle.loses_power:
            kept.append(home)
            flown.kept = home
    return flown


def _is_so(row: AgentStatus, *, started: bool) -> bool:
    """Whether the agent is as the verb would leave it.

    A start past the act mark asks about a handoff at once, and that question waits for an answer.
    """
    if started:
        return row.pid is not None and (row.handoff is None or row.state == "needs_you")
    return row.pid is None and row.handoff is None

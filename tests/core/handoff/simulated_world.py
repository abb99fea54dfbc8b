"""A world for one handoff, without files, processes or time: everything is drawn from a seed.

Plays the engine's part as the engine does (write, then do; after an interruption do again) against
an agent, a user, writers and starts that fail by chance, and checks after every step what must
never be. The rules under test are the real ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from cockpit.core.handoff import advance as rules
from cockpit.core.handoff import commands as do
from cockpit.core.handoff import events as on
from cockpit.core.handoff.record import from_record, to_record
from cockpit.core.handoff.states import (
    Asked,
    Document,
    Ended,
    Handoff,
    Moving,
    Outcome,
    Plan,
    Reviewing,
    Stopping,
    Successor,
)
from cockpit.core.ids import SessionId

PREDECESSOR = "run-0"
CHAOS = 120
"""Steps in which things go wrong; afterwards nothing does any more."""
CALM = 4000
"""Steps without faults within which every handoff must be over."""


class Crashed(Exception):
    """The supervisor is dead; what it had in memory is gone."""


class OsProblem(Exception):
    """The machine would not: the command is given again later."""


@dataclass(slots=True)
class World:
    """What is outside of the supervisor, and what of it survives."""

    chance: random.Random
    now: float = 1000.0
    faulty: bool = True
    living: set[str] = field(default_factory=lambda: {PREDECESSOR})
    """Markers of the agents that live."""
    disk: str = ""
    """The handoff as it was last written down."""
    sealed: dict[str, str] = field(default_factory=dict)
    """Documents on disk, and the hash of their bytes."""
    turn: on.Turn = on.Turn.WORKING
    asked: bool = False
    """A request is on its way to the agent."""
    heard: bool = False
    """It arrived."""
    draft: on.Draft = on.Draft.ABSENT
    replied: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    """Sessions that were started once: the CLI refuses them a second time."""
    versions: int = 0

    def luck(self, share: float) -> bool:
        """Whether something happens that happens so often; never once the faults are over."""
        return self.faulty and self.chance.random() < share


class Flight:
    """One handoff in one world."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        chance = random.Random(seed)
        self.world = World(chance)
        self.memory: Handoff | None = None
        self.stalled = False
        self.crashes = self.steps = 0
        self.trace: list[str] = []

    # The whole of it

    def fly(self) -> Ended:
        """Until it is over; raises AssertionError with the trace for what must never be."""
        self._guarded(self._begin)
        for number in range(CHAOS + CALM):
            self.world.faulty = number < CHAOS
            self._step()
            self._check()
            if self.memory is not None and isinstance(self.memory.state, Ended):
                return self._judged(self.memory.state)
        raise AssertionError(f"seed {self.seed}: no end after the faults: {self.memory}")

    def _step(self) -> None:
        self.steps += 1
        self.world.now += self.world.chance.choice((0.1, 0.25, 1.0, 5.0, 20.0))
        self._agent_goes_on()
        if self.memory is None:
            self._guarded(self._come_back)
        elif self.world.luck(0.02):
            self._crash()
        else:
            self._guarded(self._look)
            self._guarded(self._pilot)

    def _guarded(self, work: Callable[[], None]) -> None:
        """What a supervisor is: it may die in anything, and stalls where it is hindered."""
        try:
            work()
        except Crashed:
            self._crash()
        except OsProblem:
            self.stalled = True

    def _crash(self) -> None:
        self.crashes += 1
        self.trace.append("crash")
        self.memory, self.stalled = None, False

    # The engine's part

    def _begin(self) -> None:
        chance = self.world.chance
        starts = [Successor(SessionId(f"s-{n}"), f"run-{n}") for n in (1, 2, 3)]
        plan = Plan(
            "threshold",
            ask=chance.random() < 0.4,
            review=chance.random() < 0.4,
            successors=tuple(starts),
            now=chance.random() < 0.2,
            writers=chance.choice(
                (("agent", "sdk", "facts"), ("agent", "facts"), ("facts",), ("sdk",), ("agent",))
            ),
            given="/given.md" if chance.random() < 0.1 else None,
            move_to="gpu1" if chance.random() < 0.15 else "",
        )
        handoff, commands = rules.begin(plan, self.world.now)
        self.world.disk = json.dumps(to_record(handoff))
        self.memory = handoff
        self._run(commands)

    def _come_back(self) -> None:
        self.memory = from_record(json.loads(self.world.disk))
        if self.world.luck(0.1):
            self.memory = rules.rebased(self.memory, self.world.now)
        self._again()

    def _again(self) -> None:
        assert self.memory is not None
        self._advance(on.Resumed())
        self.stalled = False

    def _look(self) -> None:
        if self.stalled:
            self._again()
        self._advance(self._seen())

    def _advance(self, event: on.Event) -> None:
        assert self.memory is not None
        after, commands = rules.advance(self.memory, event)
        if after != self.memory:
            self._write(after)
        self._run(commands)

    def _write(self, after: Handoff) -> None:
        self._reach()
        self.world.disk = json.dumps(to_record(after))
        self.trace.append(type(after.state).__name__)
        self.memory = after
        if self.world.luck(0.02):
            raise Crashed

    def _reach(self) -> None:
        """Something is done to the world: before it, all may end or be refused."""
        if self.world.luck(0.02):
            raise Crashed
        if self.world.luck(0.05):
            raise OsProblem

    def _run(self, commands: tuple[do.Command, ...]) -> None:
        for command in commands:
            self._reach()
            answer = self._perform(command)
            if self.world.luck(0.02):
                raise Crashed
            if answer is not None:
                self._advance(answer)

    def _perform(self, command: do.Command) -> on.Event | None:
        match command:
            case do.Prepare() | do.Interrupt() | do.AskAgain() | do.AskToEnd():
                return None
            case do.Request():
                self.world.asked = True
            case do.Withdraw():
                self.world.asked = False
            case do.Compose(writer=writer):
                return self._compose(writer)
            case do.Refresh(document=document):
                return on.DocumentSealed(self.world.now, self._seal(document.writer))
            case do.EndPredecessor():
                return self._end()
            case do.StartSuccessor(attempt=attempt):
                return self._start(attempt)
            case do.RevivePredecessor():
                return self._revive()
            case _:
                assert_never(command)
        return None

    def _compose(self, writer: str) -> on.Event:
        assert self.memory is not None
        lacking = writer == "agent" and not self.memory.plan.given and not self.world.heard
        if lacking or self.world.luck(0.3):
            return on.DocumentFailed(self.world.now, "not valid")
        return on.DocumentSealed(self.world.now, self._seal(writer))

    def _seal(self, writer: str) -> Document:
        self.world.versions += 1
        digest = f"{self.world.versions:064}"
        self.world.sealed["/handoff.md"] = digest
        if self.world.luck(0.05):
            raise Crashed
        return Document("/handoff.md", digest, writer)  # type: ignore[arg-type]

    def _end(self) -> on.Event:
        assert self.memory is not None
        assert isinstance(self.memory.state, Stopping)
        sealed = self.memory.state.document
        assert self.world.sealed.get(sealed.path) == sealed.sha256, "ended without its document"
        if self.world.luck(0.02):
            return on.PredecessorSurvived("it hangs in the kernel")
        self.world.living.discard(PREDECESSOR)
        return on.PredecessorGone()

    def _start(self, attempt: int) -> on.Event:
        assert self.memory is not None
        mine = self.memory.successor(attempt)
        if mine.run in self.world.living:
            return on.Started(self.world.now)
        self.world.living -= {each.run for each in self.memory.plan.successors}
        assert not self.world.living, "a successor over somebody who lives"
        if self.world.luck(0.2):
            return on.StartFailed("no such program")
        if mine.session not in self.world.used:
            self.world.living.add(mine.run)
        self.world.used.add(mine.session)
        if self.world.luck(0.05):
            raise self.world.chance.choice((Crashed, OsProblem))
        return on.Started(self.world.now)

    def _revive(self) -> on.Event:
        assert self.memory is not None
        self.world.living -= {each.run for each in self.memory.plan.successors}
        if self.world.luck(0.1):
            return on.StartFailed("no such program")
        self.world.living.add(PREDECESSOR)
        return on.Started(self.world.now)

    # Agent and user

    def _agent_goes_on(self) -> None:
        world, chance = self.world, self.world.chance
        if world.asked and chance.random() < 0.5 and PREDECESSOR in world.living:
            world.asked, world.heard = False, True
        if world.heard:
            world.draft = chance.choice(tuple(on.Draft)) if world.faulty else on.Draft.VALID
        busy = [on.Turn.WORKING, on.Turn.IDLE]
        world.turn = chance.choice(tuple(on.Turn) if world.faulty else busy)
        world.replied |= {run for run in world.living if chance.random() < 0.2}
        if world.luck(0.005) and world.living:
            world.living.pop()

    def _seen(self) -> on.Observation:
        world, chance = self.world, self.world.chance
        assert self.memory is not None
        attempt = getattr(self.memory.state, "attempt", 0)
        mine = self.memory.successor(attempt).run if attempt else ""
        return on.Observation(
            now=world.now,
            turn=world.turn,
            composer_clean=not world.luck(0.2),
            subagents=("a1",) if world.luck(0.1) else (),
            git_busy="rebase" if world.luck(0.1) else None,
            forced=chance.random() < 0.2,
            queue="queued behind web" if world.luck(0.05) else None,
            delivered=world.heard,
            user_prompted=world.luck(0.01),
            moved=world.luck(0.2),
            predecessor_alive=PREDECESSOR in world.living,
            draft=world.draft,
            problems=("no goal",) if world.draft is on.Draft.INVALID else (),
            successor_alive=mine in world.living,
            successor_replied=mine in world.living and mine in world.replied,
            successor_dialog=world.luck(0.05),
        )

    def _pilot(self) -> None:
        if self.memory is None or not isinstance(self.memory.state, Asked | Reviewing | Moving):
            return
        world = self.world
        if isinstance(self.memory.state, Moving):
            if world.chance.random() < 0.3:
                self._advance(on.Moved())
            elif world.luck(0.05):
                self._advance(on.Declined())
            return
        if world.luck(0.05):
            self._advance(on.Declined())
        elif world.luck(0.05):
            self._advance(on.CalledOff("the context was compacted"))
        elif world.luck(0.3):
            self._advance(on.Snoozed(world.now + 600))
        elif world.chance.random() < 0.4:
            self._advance(on.Approved(world.now, straight=world.chance.random() < 0.2))

    # What must hold

    def _check(self) -> None:
        """After every step."""
        assert len(self.world.living) <= 1, f"seed {self.seed}: {self.world.living} live"
        if self.memory is not None:
            written = from_record(json.loads(self.world.disk))
            assert type(written.state) is type(self.memory.state), f"seed {self.seed}: {written}"
            assert written.document == self.memory.document, f"seed {self.seed}: {written}"

    def _judged(self, ended: Ended) -> Ended:
        """At the end: somebody is there, or it is said that nobody is."""
        living = self.world.living
        assert self.memory is not None
        where = f"seed {self.seed}: {ended} with {living}, by {' '.join(self.trace)}"
        successors = {each.run for each in self.memory.plan.successors}
        match ended.outcome:
            case Outcome.DONE:
                assert living <= {self.memory.successor(ended.attempt).run}, where
                assert ended.document is not None, where
            case Outcome.CANCELLED | Outcome.REFUSED:
                assert not living & successors, where
            case Outcome.MOVED:
                assert not living, where
                assert ended.document is not None, where
            case Outcome.REVIVED:
                assert living <= {PREDECESSOR}, where
            case Outcome.FAILED:
                assert ended.why, where
        return ended

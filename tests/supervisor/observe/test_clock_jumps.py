"""A wall clock that is put on or back makes nothing due, late, stale or forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from cockpit.adapters.store.store import Store
from cockpit.adapters.transcripts.tail import Tail
from cockpit.config.paths import Places
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.events import Turn
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord, SessionRecord
from cockpit.ports.runtimes import Signal
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.options import HandoffOptions
from cockpit.supervisor.handoff.policy import Due, Guards
from cockpit.supervisor.handoff.snapshot import user_prompted
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.observe.watch import Watch
from cockpit.supervisor.view.rows import row
from tests.manual_clock import ManualClock
from tests.supervisor.sessions_alone import sessions_alone

JUMPS = [timedelta(hours=-3), timedelta(hours=3), timedelta(days=400), timedelta(days=-400)]
DUE = Due("band", "threshold", "70% of the context is used")


class Watched:
    """One agent with a record and a spool, looked at by hand; both clocks are moved by hand."""

    def __init__(self, home: Path) -> None:
        places = Places(home, home / "state", home / "run", home)
        places.make()
        self.clock = ManualClock()
        self.parts: Dependencies = replace(dependencies(places), clock=self.clock)
        self.store: Store = self.parts.store
        self.signals: list[Signal] = []
        self.record = home / "record.jsonl"
        self.record.touch()
        settings = AgentSettings.model_validate({"name": "api", "directory": str(home)})
        job = JobRecord(JobId("j"), AgentName("api"), "Count.", self.wall())
        self.store.add_job(job)
        session = SessionRecord(
            SessionId("s"), AgentName("api"), job.id, 1, None, "api-1", self.wall()
        )
        self.store.save_session(session)
        agent = AgentRecord(AgentName("api"), {}, None, True, str(home), session=session.id)
        self.agent = Agent(agent, settings, self.parts.runtimes("claude"), job=job, session=session)
        self.agent.process = ProcessId(1, 1, "boot")
        self.agent.begin_session(Tail(self.record, self.agent.runtime.parse))
        self.watch = Watch(
            self.parts,
            sessions_alone(self.parts, lambda: [self.agent]),
            lambda: [self.agent],
            self._taken,
            self._nothing,
            compacts=lambda _: None,
            compacted=lambda _: None,
        )
        self.guards = Guards(self.parts)

    def _taken(self) -> list[Signal]:
        taken, self.signals = self.signals, []
        return taken

    async def _nothing(self, _agent: Agent) -> None: ...

    def wall(self) -> float:
        return self.clock.now().timestamp()

    def jump(self, by: timedelta) -> None:
        self.clock.set_wall(self.clock.now() + by)

    async def replies(self, tokens: int) -> None:
        """The CLI writes a reply, dated by the wall clock, and the watch reads it."""
        usage = {"input_tokens": tokens, "output_tokens": 1}
        message = {
            "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant",
            "model": "claude-haiku-4-5", "content": [], "usage": usage,
        }  # fmt: skip
        at = self.clock.now().isoformat().replace("+00:00", "Z")
        line = {
            "type": "assistant", "uuid": uuid4().hex, "sessionId": "s", "timestamp": at,
            "message": message,
        }  # fmt: skip
        with self.record.open("a") as file:
            file.write(json.dumps(line) + "\n")
        await self.watch.transcripts.read_once(self.agent)

    def hook(self, event: str, **more: object) -> None:
        """A hook is called, dated by the wall clock, and heard."""
        payload = {"hook_event_name": event, "session_id": "s", **more}
        self.signals.append(Signal(AgentName("api"), event, payload, at=self.wall()))
        self.watch.reports.process_once()

    def swapped(self) -> None:
        """A handoff was confirmed a moment ago."""
        self.store.save_handoff(
            HandoffRecord(
                HandoffId(str(uuid4())), AgentName("api"), JobId("j"), SessionId("s"), "threshold",
                self.wall(), self.clock.boot(), {}, HandoffDetails(closed=self.clock.steady()),
                ended=self.wall(), outcome="done",
            )
        )  # fmt: skip


@pytest.fixture
def watched(own_home: Path) -> Iterator[Watched]:
    one = Watched(own_home / "ck")
    yield one
    one.store.close()


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_reading_is_as_old_as_it_is(watched: Watched, jump: timedelta) -> None:
    watched.hook("UserPromptSubmit", prompt="Count.")
    await watched.replies(150_000)
    assert watched.agent.session_state.activity.turn is Turn.WORKING
    assert watched.guards.reason_to_wait(watched.agent, DUE) is None
    watched.jump(jump)
    watched.clock.advance(60)
    assert watched.guards.reason_to_wait(watched.agent, DUE) is None
    told = row(watched.agent, watched.clock.steady(), watched.clock.monotonic())
    assert told.context.age_seconds == 60.0
    watched.clock.advance(61)
    assert watched.guards.reason_to_wait(watched.agent, DUE) == (
        "the last token count is old; waiting for a newer count"
    )


@pytest.mark.parametrize("jump", JUMPS)
async def test_the_newer_word_counts_whatever_its_date(watched: Watched, jump: timedelta) -> None:
    watched.hook("UserPromptSubmit", prompt="Count.")
    await watched.replies(100_000)
    watched.clock.advance(5)
    watched.jump(jump)
    await watched.replies(120_000)
    assert watched.agent.session_state.gauge.tokens == 120_000
    watched.clock.advance(5)
    watched.hook("Stop")
    turns = [watched.agent.session_state.activity.turn]
    watched.hook("UserPromptSubmit", prompt="Go on.")
    turns.append(watched.agent.session_state.activity.turn)
    assert turns == [Turn.IDLE, Turn.WORKING]
    watched.hook("PostCompact")
    watched.clock.advance(5)
    await watched.replies(20_000)
    assert watched.agent.session_state.gauge.tokens == 20_000


@pytest.mark.parametrize("jump", JUMPS)
async def test_what_is_shown_follows_the_wall_clock(watched: Watched, jump: timedelta) -> None:
    watched.hook("UserPromptSubmit", prompt="Count.")
    watched.jump(jump)
    await watched.replies(100_000)
    told = row(watched.agent, watched.clock.steady(), watched.clock.monotonic())
    assert told.last_activity_at == watched.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_reminder_that_the_prompt_is_idle_is_no_activity(watched: Watched) -> None:
    watched.hook("UserPromptSubmit", prompt="Count.")
    watched.clock.advance(5)
    watched.hook("Stop")
    ended_at = watched.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    watched.clock.advance(60)
    watched.hook("Notification", notification_type="idle_prompt", message="Claude is waiting")
    told = row(watched.agent, watched.clock.steady(), watched.clock.monotonic())
    assert told.last_activity_at == ended_at


async def test_a_line_without_a_date_makes_no_other_newer(watched: Watched) -> None:
    await watched.replies(100_000)
    watched.clock.advance(60)
    undated = {"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"}
    with watched.record.open() as file:
        lines = file.readlines()
    watched.record.write_text("".join([json.dumps(undated) + "\n", *lines]))
    watched.agent.begin_session(Tail(watched.record, watched.agent.runtime.parse))
    await watched.watch.transcripts.read_once(watched.agent)
    told = row(watched.agent, watched.clock.steady(), watched.clock.monotonic())
    assert (told.context.tokens, told.context.age_seconds) == (100_000, 60.0)


async def test_a_record_that_was_dated_by_a_wrong_clock_is_read_in_its_order(
    watched: Watched,
) -> None:
    """As a supervisor finds it that was away when the clock was put right."""
    with watched.parts.store.transaction():
        watched.agent.session_state.reading.tail = None  # nobody looks
        watched.jump(timedelta(hours=3))
        await watched.replies(160_000)
        watched.jump(timedelta(hours=-3))
        watched.clock.advance(60)
        await watched.replies(20_000)
        watched.clock.advance(60)
    watched.agent.begin_session(Tail(watched.record, watched.agent.runtime.parse))
    await watched.watch.transcripts.read_once(watched.agent)
    assert watched.agent.session_state.gauge.tokens == 20_000


@pytest.mark.parametrize("jump", JUMPS)
def test_three_swaps_within_a_quarter_of_an_hour_are_three(
    watched: Watched, jump: timedelta
) -> None:
    for _ in range(3):
        watched.swapped()
        watched.clock.advance(100)
    watched.jump(jump)
    held = watched.guards.reason_to_ask(watched.agent)
    assert held is not None
    assert held.kind == "breaker"
    watched.clock.advance(601)
    assert watched.guards.reason_to_ask(watched.agent) is None
    watched.jump(-jump)
    assert watched.guards.reason_to_ask(watched.agent) is None


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_prompt_after_a_handoff_began_is_one_after_it(
    watched: Watched, jump: timedelta
) -> None:
    watched.hook("UserPromptSubmit", prompt="before")

    engine = Engine(
        watched.parts,
        sessions_alone(watched.parts, list),
        lambda: [],
        lambda _: None,
    )
    watched.clock.advance(5)
    await engine.begin(watched.agent, HandoffOptions(reason="manual", ask=True, review=True))
    assert not user_prompted(watched.agent)
    watched.jump(jump)
    watched.clock.advance(5)
    watched.hook("UserPromptSubmit", prompt="after")
    assert user_prompted(watched.agent)


def test_all_supervisors_of_a_boot_have_one_steady_time(own_home: Path) -> None:
    store = Store(own_home / "cockpit.db").open()
    assert store.boot_epoch("this", 1000.0) == 1000.0
    assert store.boot_epoch("this", 9000.0) == 1000.0
    assert store.boot_epoch("next", 9000.0) == 9000.0
    store.close()

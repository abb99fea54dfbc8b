"""The supervisor in memory does what it was told to, and answers as a real one would."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest

from cockpit.client.client import Client
from cockpit.core.errors import NoSuchAgent, NoSupervisor, NotNow
from cockpit.wire.course import Course, Stretch
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import Status
from cockpit.wire.stream import AgentChanged, AgentForgotten, Happened, Snapshot, WatchLine
from cockpit.wire.verbs import Stop
from tests.client.memory import MemoryClient
from tests.tui.scene import agent


def memory(*names: str) -> MemoryClient:
    return MemoryClient(Status(agents=[agent(name) for name in names]))


def test_it_is_a_client() -> None:
    client: Client = memory()
    assert client is not None


async def test_watching_begins_with_everything_and_goes_on_with_what_changes() -> None:
    client = memory("api")
    lines: list[WatchLine] = []
    stream = cast("Any", client.watch())
    async with aclosing(stream):
        lines.append(await anext(stream))
        client.change("api", state="idle")
        client.put(agent("web"))
        client.forget("web")
        client.happen("agent.stopped", "web has ended", "web")
        lines.extend([await anext(stream) for _ in range(4)])
    first, changed, came, went, happened = lines
    assert isinstance(first, Snapshot)
    assert [one.name for one in first.status.agents] == ["api"]
    assert isinstance(changed, AgentChanged)
    assert changed.agent.state == "idle"
    assert isinstance(came, AgentChanged)
    assert came.agent.name == "web"
    assert isinstance(went, AgentForgotten)
    assert went.name == "web"
    assert isinstance(happened, Happened)
    assert happened.event.id == 1


async def test_nothing_that_changes_while_the_snapshot_is_read_is_lost() -> None:
    client = memory("api")
    stream = cast("Any", client.watch())
    async with aclosing(stream):
        await anext(stream)
        client.change("api", state="done")
        await asyncio.sleep(0)
        line = await anext(stream)
    assert isinstance(line, AgentChanged)
    assert line.agent.state == "done"


async def test_going_away_ends_every_stream_and_refuses_every_call() -> None:
    client = memory("api")
    watch, screen = cast("Any", client.watch()), cast("Any", client.screen("api"))
    await anext(watch)
    await anext(screen)
    client.disconnect()
    for stream in (watch, screen):
        with pytest.raises(NoSupervisor):
            await anext(stream)
    with pytest.raises(NoSupervisor):
        await client.ask(Stop(name="api"))
    client.reconnect()
    assert (await client.status()).agents


async def test_it_remembers_what_it_was_asked_even_when_it_refuses() -> None:
    client = memory("api")
    await client.ask(Stop(name="api"))
    client.refuse(Stop, NotNow("not now", "because"))
    with pytest.raises(NotNow):
        await client.ask(Stop(name="api"))
    assert client.asked == [Stop(name="api"), Stop(name="api")]


async def test_a_screen_needs_an_agent_with_a_pane() -> None:
    client = memory("api")
    client.put(agent("cron", "stopped", None))
    for name, error in (("nobody", NoSuchAgent), ("cron", NotNow)):
        with pytest.raises(error):
            await anext(cast("Any", client.screen(name)))


async def test_events_are_given_from_the_newest_or_after_one() -> None:
    client = memory()
    for number in range(5):
        client.happen("x.happened", str(number))
    assert [event.id for event in await client.events(limit=2)] == [4, 5]
    assert [event.id for event in await client.events(after=2, limit=2)] == [3, 4]


async def test_history_is_searched_as_a_real_one_is() -> None:
    """Only the handoffs whose documents hold all the words, each with the line of them."""

    client = memory()
    handoffs = [{"id": "h-1"}, {"id": "h-2"}]
    sessions = [{"id": "s", "handoffs": handoffs}]
    client.remember([HistoryChain.model_validate({"agent": "api", "sessions": sessions})])
    client.lay("h-1", "---\nagent: api\n---\n# Handoff\n\nThe token of Auth\n")
    client.lay("h-2", "the session")
    ((session,),) = [each.sessions for each in await client.history(search="auth TOKEN")]
    assert [(each.id, each.found) for each in session.handoffs] == [("h-1", "The token of Auth")]
    assert await client.history(search="agent") == []
    assert len((await client.history("api", search=" "))[0].sessions[0].handoffs) == 2


async def test_what_is_looked_up_is_what_was_put_there() -> None:
    client = memory("api")
    assert await client.course("api") == Course(agent="api")
    assert (await client.diff("api")).text == ""
    course = Course(agent="api", stretches=[Stretch(session="s", number=1, state="live")])
    client.chart(course)
    client.differ("api", WorktreeDiff(directory="/w", text="+one\n"))
    assert await client.course("api") == course
    assert (await client.diff("api")).text == "+one\n"
    assert (await client.diff("api", of_job=True)).text == ""
    for call in (client.course, client.diff):
        with pytest.raises(NoSuchAgent):
            await call("nobody")
    assert client.looked_up[:2] == [("course", "api"), ("diff", "api")]

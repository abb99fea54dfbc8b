"""Several supervisors as one: every client keeps one contract, and one that fails fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from cockpit.client.client import Client, Supervisor
from cockpit.client.foreign_answers import MOST_AGENTS
from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import BadUsage, Failed, NoSuchAgent, NoSupervisor, NotNow
from cockpit.core.far_names import far_name
from cockpit.wire.course import Course, Stretch
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import ElsewhereSession, HandoffStatus, HeldSetting, Status
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    ElsewhereCounted,
    Happened,
    Resumed,
    ScreenShot,
    Snapshot,
)
from cockpit.wire.verbs import Adopt, Approve, Continue, Plan, RemoveWorktree, Start, Stop, Verb
from cockpit.wire.worktrees import WorktreeStatus
from tests.client.memory import MemoryClient
from tests.tui.scene import agent

HANDOFF = HandoffStatus(id="h-1", reason="manual", phase="review", since="")
SESSION = {"id": "s", "handoffs": [{"id": "h-1"}], "documents": [{"id": "h-1"}], "handoff": "h-1"}
CHAIN = {"agent": "api", "sessions": [SESSION]}


def memory() -> MemoryClient:
    """Two like this have agents and handoffs of the same names."""
    made = MemoryClient(Status(agents=[agent("api", handoff=HANDOFF)]))
    made.lay("h-1", "the token")
    made.continue_with("api", "go on")
    made.know("api", {"goal": "a"})
    made.remember([HistoryChain.model_validate(CHAIN)])
    made.chart(Course(agent="api", stretches=[Stretch(session="s", number=1, state="live")]))
    made.differ("api", WorktreeDiff(directory="/w", text="+one\n"))
    made.show("api", ["a line"])
    return made


def pair() -> tuple[JoinedClient, MemoryClient, MemoryClient]:
    here, there = memory(), memory()
    return JoinedClient(here, [HostClient("gpu1", there)]), here, there


@dataclass
class Asked:
    """A client, the supervisor behind it that is meant, and what that one's things are called."""

    client: Client
    answering: MemoryClient
    host: str | None = None

    def __call__(self, name: str) -> str:
        return far_name(self.host, name) if self.host else name


def _alone() -> Asked:
    answering = memory()
    return Asked(answering, answering)


def _named() -> Asked:
    answering = memory()
    return Asked(HostClient("gpu1", answering), answering, "gpu1")


def _joined_here() -> Asked:
    client, here, _ = pair()
    return Asked(client, here)


def _joined_there() -> Asked:
    client, _, there = pair()
    return Asked(client, there, "gpu1")


@pytest.fixture(params=[_alone, _named, _joined_here, _joined_there])
def asked(request: Any) -> Asked:
    made: Asked = request.param()
    return made


@pytest.fixture(params=[_alone, _named])
def followed(request: Any) -> Asked:
    made: Asked = request.param()
    return made


# Every client.


async def test_each_agent_has_a_name_by_which_it_is_asked_about(asked: Asked) -> None:
    client, api = asked.client, asked("api")
    found = {one.name: one for one in (await client.status()).agents}
    handoff = found[api].handoff
    assert handoff is not None
    assert handoff.id == asked("h-1")
    assert await client.document(handoff.id) == "the token"
    assert await client.continuation(api) == "go on"
    assert await client.facts(api) == {"goal": "a"}
    assert (await client.course(api)).agent == api
    assert (await client.diff(api)).text == "+one\n"
    assert asked.answering.looked_up == [("facts", "api"), ("course", "api"), ("diff", "api")]


async def test_a_verb_reaches_the_one_that_is_meant_in_its_own_words(asked: Asked) -> None:
    done = await asked.client.ask(Approve(name=asked("api"), handoff=asked("h-1")))
    assert done.name == asked("api")
    await asked.client.ask(Start(name=asked("new"), directory="/there"))
    await asked.client.ask(RemoveWorktree(tree=asked("api")))
    await asked.client.ask(Continue(document="/d.md", name=asked("more")))
    assert asked.answering.asked == [
        Approve(name="api", handoff="h-1"), Start(name="new", directory="/there"),
        RemoveWorktree(tree="api"), Continue(document="/d.md", name="more"),
    ]  # fmt: skip


async def test_a_refusal_is_that_supervisors(asked: Asked) -> None:
    asked.answering.refuse(Stop, NotNow("not now", "because"))
    with pytest.raises(NotNow, match="not now"):
        await asked.client.ask(Stop(name=asked("api")))
    for call in (asked.client.facts, asked.client.course, asked.client.diff):
        with pytest.raises(NoSuchAgent):
            await cast("Any", call)(asked("nobody"))


async def test_a_pane_is_looked_at_where_it_is(asked: Asked) -> None:
    shots = asked.client.screen(asked("api"))
    assert (await anext(shots)).lines == ["a line"]
    assert asked.answering.onlookers("api") == 1
    await ended(shots)
    assert asked.answering.onlookers("api") == 0


async def test_history_is_of_one_or_of_all_and_what_it_names_can_be_read(asked: Asked) -> None:
    (chain,) = await asked.client.history(asked("api"))
    assert chain.agent == asked("api")
    (session,) = chain.sessions
    assert session.handoff == session.handoffs[0].id == asked("h-1")
    assert [document.id for document in session.documents] == [asked("h-1")]
    assert session.handoff is not None
    assert await asked.client.document(session.handoff) == "the token"
    every = await asked.client.history(search="TOKEN")
    assert asked("api") in [each.agent for each in every]
    assert await asked.client.history(asked("api"), search="nowhere") == []


# Those that can be followed.


async def test_what_is_followed_has_the_same_names(followed: Asked) -> None:
    stream = cast("Supervisor", followed.client).watch()
    lines = [await anext(stream)]
    followed.answering.change("api", state="idle")
    followed.answering.forget("api")
    followed.answering.happen("agent.stopped", "api has ended", "api")
    lines += [await anext(stream) for _ in range(3)]
    followed.answering.put(agent("api"))
    lines.append(await anext(stream))
    followed.answering.disconnect()
    with pytest.raises(NoSupervisor):
        await anext(stream)
    followed.answering.reconnect()
    followed.answering.forget("api")
    position = cast("Snapshot", lines[0]).position
    again = cast("Supervisor", followed.client).watch(since=position)
    lines.append(await anext(again))
    snapshot, changed, forgotten, happened, back, resumed = lines
    assert isinstance(back, AgentChanged)
    assert isinstance(resumed, Resumed)
    assert resumed.forgotten == [followed("api")]
    assert isinstance(snapshot, Snapshot)
    assert [one.name for one in snapshot.status.agents] == [followed("api")]
    assert isinstance(changed, AgentChanged)
    assert changed.agent.name == followed("api")
    assert isinstance(forgotten, AgentForgotten)
    assert forgotten.name == followed("api")
    assert isinstance(happened, Happened)
    assert happened.event.agent == followed("api")
    assert happened.event.text.endswith("api has ended")


async def test_events_are_those_that_were_told(followed: Asked) -> None:
    followed.answering.happen("agent.started", "api began", "api")
    followed.answering.happen("supervisor.started", "it began")
    first, second = await cast("Supervisor", followed.client).events()
    assert (first.id, first.agent, second.agent) == (1, followed("api"), None)


# Several.


async def test_worktrees_say_where_they_are() -> None:
    client, here, there = pair()
    for each in (here, there):
        tree = WorktreeStatus(directory="/w", repository="/r", made=True, agent="api", size=7)
        each.trees = [tree]
    assert [tree.size for tree in await client.worktrees("/r")] == [None, None]
    assert [tree.size for tree in await client.worktrees("/r", sizes=True)] == [7, 7]
    told = [(tree.host, tree.agent) for tree in await client.worktrees("/r")]
    assert told == [(None, "api"), ("gpu1", "gpu1/api")]


async def test_those_of_this_machine_come_first_and_hosts_are_told() -> None:
    client, here, there = pair()
    held = HeldSetting(file="/c.toml", line=1, key="hosts[0]", reason="it runs a program")
    here.hold([held])
    there.hold([held])
    status = await client.status()
    assert [one.name for one in status.agents] == ["api", "gpu1/api"]
    assert [one.host for one in status.held] == [None, "gpu1"]
    assert [chain.host for chain in await client.history()] == [None, "gpu1"]
    assert list(client.members) == ["local", "gpu1"]


async def test_hosts_that_do_not_answer_a_status_are_named() -> None:
    client, here, there = pair()
    assert (await client.status(), client.without_status)[1] == frozenset()
    there.disconnect()
    assert (await client.status(), client.without_status)[1] == {"gpu1"}
    there.reconnect()
    here.disconnect()
    assert (await client.status(), client.without_status)[1] == {"local"}


@pytest.mark.parametrize("verb", [Plan(name="gpu9/new"), Stop(name="gpu9/api")])
async def test_a_host_that_there_is_not_is_named_with_those_there_are(verb: Verb) -> None:
    client, here, there = pair()
    with pytest.raises(BadUsage, match="gpu9") as caught:
        await client.ask(verb)
    assert caught.value.detail == "Known: local, gpu1."
    assert here.asked == there.asked == []


async def test_a_path_is_of_this_machine() -> None:
    client, here, _ = pair()
    await client.ask(RemoveWorktree(tree="/w/tree"))
    await client.ask(Continue(document="/d.md"))
    assert here.asked == [RemoveWorktree(tree="/w/tree"), Continue(document="/d.md")]


@pytest.mark.parametrize("which", [0, 1])
async def test_one_that_is_away_leaves_the_others_alone(which: int) -> None:
    client, *both = pair()
    both[which].disconnect()
    left = ["gpu1/api", "api"][which]
    assert [one.name for one in (await client.status()).agents] == [left]
    assert [chain.agent for chain in await client.history()] == [left]
    with pytest.raises(NoSupervisor):
        await client.facts(["api", "gpu1/api"][which])
    both[1 - which].disconnect()
    with pytest.raises(NoSupervisor):
        await client.status()


async def test_one_that_is_known_to_be_away_is_not_waited_for() -> None:
    class Hangs(MemoryClient):
        async def history(self, *_of: Any) -> list[HistoryChain]:
            await asyncio.Event().wait()
            raise AssertionError

    there = Hangs()
    named = HostClient("gpu1", there)
    client = JoinedClient(memory(), [named])
    stream = named.watch()
    await anext(stream)
    there.disconnect()
    with pytest.raises(NoSupervisor):
        await anext(stream)
    async with asyncio.timeout(120):
        assert [chain.agent for chain in await client.history()] == ["api"]


async def test_why_a_hosts_history_is_missing_is_kept_until_it_answers() -> None:
    client, here, there = pair()
    assert client.without == {}
    there.disconnect()
    assert [chain.host for chain in await client.history()] == [None]
    (why,) = client.without.values()
    assert isinstance(why, NoSupervisor)
    there.reconnect()
    await client.status()
    assert list(client.without) == ["gpu1"]
    await client.history_page(10)
    assert client.without == {}
    here.disconnect()
    await client.history(search="token")
    assert list(client.without) == ["local"]
    there.disconnect()
    with pytest.raises(NoSupervisor):
        await client.history_page(10)
    assert list(client.without) == ["local", "gpu1"]
    client.set_hosts([])
    assert list(client.without) == ["local"]


async def test_a_host_that_missed_the_first_page_is_asked_again_with_the_next() -> None:
    client, here, there = pair()
    handoffs = [{"id": f"h-{number}", "created": f"2026-11-2{number}"} for number in (1, 2, 3)]
    session = {"id": "s", "handoffs": handoffs}
    here.remember([HistoryChain.model_validate({"agent": "api", "sessions": [session]})])
    there.disconnect()
    first = await client.history_page(1)
    assert (first.total, list(client.without)) == (3, ["gpu1"])
    second = await client.history_page(1, first.next)
    assert (second.total, list(client.without)) == (3, ["gpu1"])
    there.reconnect()
    third = await client.history_page(1, second.next)
    assert [chain.agent for chain in third.chains] == ["api", "gpu1/api"]
    assert (third.total, third.next, client.without) == (4, None, {})
    assert there.pages == [(1, None, None)] * 3


async def test_a_host_that_missed_the_first_page_does_not_add_a_page() -> None:
    client, _, there = pair()
    there.disconnect()
    page = await client.history_page(10)
    assert (page.next, list(client.without)) == (None, ["gpu1"])


async def test_a_host_that_is_not_connected_is_missing_from_the_history() -> None:
    there = memory()
    named = HostClient("gpu1", there)
    client = JoinedClient(memory(), [named])
    named.answers = False
    assert [chain.host for chain in await client.history()] == [None]
    assert client.without["gpu1"].title == "not connected"


async def ended(stream: AsyncIterator[ScreenShot]) -> None:
    await cast("Any", stream).aclose()


async def test_a_session_elsewhere_is_adopted_on_its_own_host() -> None:
    client, here, there = pair()
    one = ElsewhereSession(session_id="s-1", runtime="claude", pid=7, directory="/w")
    here.others, there.others = None, [one]
    (found,) = await client.elsewhere() or []
    assert (found.host, found.session_id) == ("gpu1", "gpu1/s-1")
    await client.ask(Adopt(session=found.session_id, pid=7))
    assert there.asked == [Adopt(session="s-1", pid=7)]
    assert here.asked == []
    there.others = None
    assert await client.elsewhere() is None


async def test_the_number_of_sessions_comes_from_each_host() -> None:
    _, _, there = pair()
    there.others = [ElsewhereSession(session_id="s", runtime="claude", pid=7, directory="/w")]
    lines = HostClient("gpu1", there).watch(elsewhere=True)
    assert isinstance(await anext(lines), Snapshot)
    assert await anext(lines) == ElsewhereCounted(count=1)


# A host that sends what no supervisor sends.


@pytest.mark.parametrize("name", ["", "gpu2/api", "../api", "a\x1b]0;title\x07", "API", "x" * 33])
async def test_a_name_that_no_agent_can_have_ends_the_stream_with_the_reason(name: str) -> None:
    there = MemoryClient(Status(agents=[agent("api")]))
    host = HostClient("gpu1", there)
    stream = cast("Any", host.watch())
    await anext(stream)
    there.put(agent("api").model_copy(update={"name": name}))

    with pytest.raises(Failed, match="Host gpu1 sent an invalid agent name") as caught:
        await anext(stream)

    assert "\x1b" not in str(caught.value)
    assert caught.value.hint == "Check which program answers on gpu1: cockpit doctor --host gpu1"
    with pytest.raises(Failed):
        await host.status()


async def test_an_event_about_another_hosts_agent_is_refused() -> None:
    there = MemoryClient(Status(agents=[agent("api")]))
    there.happen("agent.stopped", "it ended", "gpu2/api")

    with pytest.raises(Failed, match="invalid agent name"):
        await HostClient("gpu1", there).events()


async def test_agents_without_end_are_too_many() -> None:
    there = MemoryClient(Status())
    stream = cast("Any", HostClient("gpu1", there).watch())
    await anext(stream)
    for number in range(MOST_AGENTS + 1):
        there.put(agent(f"a{number}"))

    for _ in range(MOST_AGENTS):
        await anext(stream)
    with pytest.raises(Failed, match="too many agents"):
        await anext(stream)

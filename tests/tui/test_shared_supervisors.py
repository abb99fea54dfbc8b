"""One supervisor under two names: its agents are shown once, and a lost name loses nothing."""

from __future__ import annotations

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.tui.state.model import Change, Model
from cockpit.wire.status import AgentStatus, Status, SupervisorStatus
from cockpit.wire.stream import AgentChanged, AgentForgotten, Event, Happened, Snapshot
from tests.client.memory import MemoryClient
from tests.tui.conftest import Fly
from tests.tui.scene import agent

ONE, OTHER = "a" * 32, "b" * 32


def snapshot(host: str, instance: str | None, *agents: AgentStatus) -> Snapshot:
    supervisor = SupervisorStatus(version="1", instance=instance)
    return Snapshot(status=Status(host=host, supervisor=supervisor, agents=list(agents)))


def connect(model: Model, host: str, instance: str | None, *names: str, at: float = 1.0) -> None:
    before = "" if host == "local" else f"{host}/"
    agents = [agent(before + name) for name in names]
    model.parts[host].take(snapshot(host, instance, *agents), at)
    model.parts[host].answered()


def lose(model: Model, host: str) -> None:
    model.parts[host].lost(9.0, "gone")


def shown(model: Model) -> list[str]:
    assert model.received_at.keys() == model.agents.keys()
    return list(model.agents)


def test_the_first_name_shows_the_agents_whichever_answers_first() -> None:
    for order in (("gpu1", "gpu2"), ("gpu2", "gpu1")):
        model = Model(others=("gpu1", "gpu2"))
        connect(model, "local", OTHER, "here")
        for host in order:
            connect(model, host, ONE, "api", "web")
        assert shown(model) == ["here", "gpu1/api", "gpu1/web"]
        assert [part.same_as for part in model.parts.values()] == [None, None, "gpu1"]


def test_a_host_that_is_this_machine_is_not_shown_again() -> None:
    model = Model(others=("box",))
    connect(model, "box", ONE, "api")
    assert shown(model) == ["box/api"]
    model.select("box/api")
    connect(model, "local", ONE, "api")
    assert shown(model) == ["api"]
    assert model.selected == "api", "the same agent stays selected"


def test_supervisors_without_an_id_are_never_the_same() -> None:
    model = Model(others=("gpu1", "gpu2"))
    for host in model.parts:
        connect(model, host, None, "api")
    assert shown(model) == ["api", "gpu1/api", "gpu2/api"]


def test_while_the_first_way_is_lost_the_second_shows_the_agents() -> None:
    model = Model(others=("gpu1", "gpu2"))
    connect(model, "local", OTHER)
    connect(model, "gpu1", ONE, "api", "web", at=1.0)
    connect(model, "gpu2", ONE, "api", "web", at=2.0)
    model.select("gpu1/web")
    model.parts["gpu2"].take(AgentChanged(agent=agent("gpu2/new")), 3.0)
    model.parts["gpu2"].take(AgentForgotten(name="gpu2/api"), 3.0)
    assert shown(model) == ["gpu1/api", "gpu1/web"], "only the first name counts"
    lose(model, "gpu1")
    assert shown(model) == ["gpu2/web", "gpu2/new"]
    assert model.selected == "gpu2/web"
    assert model.received_at == {"gpu2/web": 2.0, "gpu2/new": 3.0}, "an age counts from its arrival"
    assert not model.is_lost("gpu2/web")
    lose(model, "gpu2")
    assert shown(model) == ["gpu2/web", "gpu2/new"], "the last known state stays"
    connect(model, "gpu1", ONE, "web", "new")
    assert shown(model) == ["gpu1/web", "gpu1/new"]
    assert model.selected == "gpu1/web"


def test_a_restarted_supervisor_and_a_removed_name_are_noticed() -> None:
    model = Model(others=("gpu1", "gpu2"))
    connect(model, "gpu1", ONE, "api")
    connect(model, "gpu2", ONE, "api")
    connect(model, "gpu2", OTHER, "api")
    assert shown(model) == ["gpu1/api", "gpu2/api"], "it is another machine now"
    connect(model, "gpu2", ONE, "api")
    model.set_hosts(["gpu2"])
    assert shown(model) == ["gpu2/api"]


def test_an_event_is_told_once() -> None:
    model = Model(others=("gpu1", "gpu2"))
    happened: list[Change] = []
    for host in ("gpu1", "gpu2"):
        connect(model, host, ONE, "api")
    model.listen(lambda change, _: happened.append(change))
    for host in ("gpu1", "gpu2"):
        event = Event(id=7, at="", kind="x", agent=f"{host}/api", text="Started.")
        model.parts[host].take(Happened(event=event), 2.0)
    assert happened.count(Change.HAPPENED) == 1
    assert [event.agent for event in model.events] == ["gpu1/api"]


def twice() -> tuple[MemoryClient, JoinedClient]:
    """This machine, which is also a host."""
    supervisor = SupervisorStatus(version="1", instance=ONE)
    here, there = (
        MemoryClient(Status(supervisor=supervisor, agents=[agent("api")])) for _ in range(2)
    )
    return here, JoinedClient(here, [HostClient("box", there)])


async def test_it_is_said_and_the_others_are_asked_once(fly: Fly) -> None:
    here, joined = twice()
    async with fly(here, size=(140, 30), join=lambda _: joined, toasts=True) as flight:
        await flight.until(lambda: "box is this machine" in str(flight.toasts()), "a message")
        assert "cockpit hosts remove box" in str(flight.toasts())
        assert "box/api" not in flight.text()
        assert joined.duplicates == {"box"}
        assert [one.name for one in (await joined.status()).agents] == ["api"]


async def test_the_top_line_says_which_host_is_another(fly: Fly) -> None:
    here, joined = twice()
    async with fly(here, size=(140, 30), join=lambda _: joined) as flight:
        await flight.reads("local ● · box ● = local")

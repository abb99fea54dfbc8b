"""Events as JSON lines, as server-sent events and as WebSocket messages; all say the same."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from cockpit.adapters.tmux.panes import Tmux
from cockpit.client.exchange import Exchange
from cockpit.config.paths import Places
from cockpit.core.events import Plain
from cockpit.core.ids import PaneId
from cockpit.ports.panes import PanesSilent
from cockpit.supervisor.api import streams
from cockpit.supervisor.api.views import events
from cockpit.supervisor.api.views.screen import SCREEN_AT_REST
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.wire.stream import ScreenShot
from cockpit.wire.verbs import Stop
from tests.supervisor.api.web import gateway

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
FOUND = Plain("agent.found")
SERVER_SENT = {"Accept": "text/event-stream"}


def fields(event: bytes) -> dict[str, str]:
    """The fields of one server-sent event."""
    pairs = (line.partition(": ") for line in event.decode().rstrip("\n").split("\n"))
    return {name: value for name, _, value in pairs}


async def test_each_form_has_the_same_events(cockpit: Cockpit) -> None:
    async with (
        cockpit.flying(cockpit.agent()) as supervisor,
        gateway(cockpit.places.socket) as (base, token),
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        asyncio.timeout(120),
    ):
        supervisor.event_log.record(FOUND, "long before")  # `after=0` is for new ones only
        first = supervisor.event_log.record(FOUND, "before")
        at = f"{base}/v1/events?after={first.id - 1}"
        async with (
            session.get(f"{at}&follow=1") as lines,
            session.get(at, headers=SERVER_SENT) as events,
            session.ws_connect(at) as socket,
        ):
            assert lines.content_type == "application/x-ndjson"
            assert events.content_type == "text/event-stream"
            second = supervisor.event_log.record(FOUND, "after")
            wanted = [json.loads(one.model_dump_json()) for one in (first, second)]
            assert [await next_line(lines) for _ in wanted] == wanted
            told = [await next_event(events) for _ in wanted]
            assert [json.loads(one["data"]) for one in told] == wanted
            assert [one["id"] for one in told] == [str(first.id), str(second.id)]
            assert [json.loads(await socket.receive_str()) for _ in wanted] == wanted

        # A browser that reconnects says what it saw last.
        seen = {**SERVER_SENT, "Last-Event-ID": str(first.id)}
        async with session.get(at, headers=seen) as events:
            assert (await next_event(events))["id"] == str(second.id)


async def test_a_client_that_was_away_for_long_misses_nothing(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_EVENTS", 3)
    async with cockpit.flying(cockpit.agent()) as supervisor:
        ids = [supervisor.event_log.record(FOUND, "missed").id for _ in range(8)]
        following = cockpit.client.follow(after=ids[0])
        async with asyncio.timeout(120):
            assert [(await anext(following)).id for _ in ids[1:]] == ids[1:]
        await following.aclose()  # type: ignore[attr-defined]


async def next_line(answer: aiohttp.ClientResponse) -> Any:
    while not (line := await answer.content.readline()).strip():
        pass
    return json.loads(line)


async def next_event(answer: aiohttp.ClientResponse) -> dict[str, str]:
    while (event := await answer.content.readuntil(b"\n\n")).startswith(b":"):
        pass
    return fields(event)


async def test_the_fleet_and_a_screen_come_as_server_sent_events_too(cockpit: Cockpit) -> None:
    async with (
        cockpit.flying(cockpit.agent(mode="observe", step_tokens=1000)),
        gateway(cockpit.places.socket) as (base, token),
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        asyncio.timeout(120),
    ):
        await cockpit.start()
        async with session.get(f"{base}/v1/watch", headers=SERVER_SENT) as events:
            told = await next_event(events)
            assert "id" not in told
            assert json.loads(told["data"])["type"] == "snapshot"
        async with session.ws_connect(f"{base}/v1/screen/api") as socket:
            assert json.loads(await socket.receive_str())["pane"].startswith("%")


async def test_a_screen_goes_on_when_tmux_answers_again(cockpit: Cockpit) -> None:
    """A busy machine can keep tmux from answering for a while."""
    worlds: list[Dependencies] = []

    def world(places: Places) -> Dependencies:
        worlds.append(dependencies(places))
        return worlds[0]

    cockpit.world = world
    async with cockpit.flying(cockpit.agent(mode="observe")), asyncio.timeout(120):
        row = await cockpit.start()
        shots = cockpit.client.screen("api", 0)
        await anext(shots)
        panes = worlds[0].panes
        assert isinstance(panes, Tmux)
        server, patient = int(cockpit.tmux("display-message", "-p", "#{pid}")), panes.command
        seen = asyncio.create_task(until_it_shows(shots, "typed later"))
        panes.command = replace(patient, deadline=0.3)
        os.kill(server, signal.SIGSTOP)
        try:
            # Longer than the longest pause between two captures of the stream.
            end = asyncio.get_running_loop().time() + SCREEN_AT_REST + 1
            while asyncio.get_running_loop().time() < end:
                with pytest.raises(PanesSilent):
                    await panes.capture(PaneId(row.pane or ""))
        finally:
            os.kill(server, signal.SIGCONT)
        panes.command = patient
        cockpit.tmux("send-keys", "-t", row.pane or "", "-l", "typed later")
        await seen


async def until_it_shows(shots: AsyncIterator[ScreenShot], text: str) -> None:
    async for shot in shots:
        if any(text in line for line in shot.lines):
            return
    pytest.fail("the stream ended")


async def test_a_silent_stream_shows_that_it_lives(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BEAT", 1)
    async with cockpit.flying(cockpit.agent()):
        for accept, beat in (("text/event-stream", b":\n\n"), ("application/x-ndjson", b"\n")):
            asking = await Exchange.open(cockpit.places.socket, 5)
            try:
                await asking.send("GET", "/v1/events?follow=1&beat=1", headers={"accept": accept})
                assert (await asking.head()).status_code == 200
                asking.longest_silence = 20.0
                blocks = asking.blocks()
                assert [await anext(blocks) for _ in range(3)] == [beat] * 3
            finally:
                await asking.close()


async def test_who_asked_over_the_web_is_written_down(cockpit: Cockpit) -> None:
    async with (
        cockpit.flying(cockpit.agent()) as supervisor,
        gateway(cockpit.places.socket) as (base, token),
        aiohttp.ClientSession() as session,
    ):
        # Whoever asks cannot say another address.
        headers = {"Authorization": f"Bearer {token}", "Forwarded": "for=10.0.0.9"}
        at = f"{base}/v1/stop"
        async with session.post(at, json={"name": "api"}, headers=headers) as answer:
            assert answer.status == 200
        asked = (await cockpit.event("verb.asked")).data["by"]
        assert asked["web"] == "127.0.0.1"
        # The same without a gateway has no such address.
        await cockpit.ask(Stop(name="api"))
        events = supervisor.event_log.since(0, 100)
        last = [event for event in events if event.kind == "verb.asked"][-1]
        assert "web" not in last.data["by"]

"""What comes through `cockpit serve` is no approval of the user's, unless it runs with --write."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import VERBS, Handoff
from tests.supervisor.api.web import gateway

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
AGENT: dict[str, Any] = {"mode": "prompt", "steps": 9, "pause": 2, "step_tokens": 100}
WAYS: tuple[tuple[str, dict[str, str]], ...] = (
    ("POST", {}), ("PUT", {}), ("PATCH", {}), ("DELETE", {}), ("PROPFIND", {}),
    ("GET", {}), ("HEAD", {}), ("GET", {"X-HTTP-Method-Override": "POST"}),
    ("GET", {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}),
    ("POST", {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}),
)  # fmt: skip
"""Methods and headers of requests for a verb."""


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


async def test_without_write_nothing_is_approved_or_changed_in_any_way(cockpit: Cockpit) -> None:
    async with (
        cockpit.flying(cockpit.agent(**AGENT)),
        gateway(cockpit.places.socket, write=False) as (base, token),
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        asyncio.timeout(120),
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(reviewed)
        before = [event.id for event in await cockpit.events("verb.asked")]
        for kind in VERBS:
            for method, headers in WAYS:
                asked = session.request(
                    method, f"{base}/v1/{kind.verb}", json={"name": "api"}, headers=headers
                )
                async with asked as answer:
                    reads = method in ("GET", "HEAD")
                    assert (kind.verb, method, answer.status) == (
                        kind.verb, method, 405 if reads else 403
                    )  # fmt: skip
        async with session.ws_connect(f"{base}/v1/watch") as socket:
            await socket.receive_str()
            await socket.send_str(json.dumps({"verb": "approve", "name": "api"}))
            await socket.send_bytes(b"POST /v1/approve HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await socket.ping()
        async with session.get(f"{base}/v1/status") as answer:
            (row,) = (await answer.json())["agents"]
        assert row["needs"]["kind"] == "review"
        assert [event.id for event in await cockpit.events("verb.asked")] == before


async def test_with_write_the_review_is_approved_and_the_address_is_written_down(
    cockpit: Cockpit,
) -> None:
    async with (
        cockpit.flying(cockpit.agent(**AGENT)),
        gateway(cockpit.places.socket) as (base, token),
        aiohttp.ClientSession() as session,
        asyncio.timeout(120),
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        handoff = (await cockpit.until(reviewed)).handoff
        assert handoff is not None
        sent = {"name": "api", "handoff": handoff.id}
        async with session.post(f"{base}/v1/approve", json=sent) as answer:
            assert answer.status == 401
        assert reviewed(await cockpit.row())
        headers = {"Authorization": f"Bearer {token}"}
        async with session.post(f"{base}/v1/approve", json=sent, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
        await cockpit.until(lambda row: not reviewed(row))
        asked = (await cockpit.events("verb.asked"))[-1]
        assert (asked.data["verb"], asked.data["by"]["web"]) == ("approve", "127.0.0.1")

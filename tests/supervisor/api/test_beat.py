"""A stream that says that it is there, for whoever could not know otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.client.exchange import Exchange

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


async def test_a_silent_fleet_is_heard_of_by_whoever_asked_for_it(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()):
        watching = await Exchange.open(cockpit.places.socket, 5)
        try:
            await watching.ask("GET", "/v1/watch?beat=1")
            blocks = watching.blocks()
            watching.longest_silence = 20.0
            said = b""
            while b"\n\n\n" not in said:  # a line, and two beats after it
                said += await anext(blocks)
        finally:
            await watching.close()
        assert said.startswith(b'{"type":"snapshot"')

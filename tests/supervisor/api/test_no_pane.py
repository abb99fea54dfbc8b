"""An agent whose pane was closed, and whose process still runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from cockpit.core.errors import NotNow
from cockpit.wire.verbs import Attach, Send, Stop
from tests.supervisor.left_alone import until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_each_request_that_needs_the_pane_says_to_stop_the_agent_first(
    cockpit: Cockpit,
) -> None:
    ready = cockpit.home / "ready"
    ignores_hangup = json.dumps(["sh", "-c", f"trap '' HUP; touch {ready}; sleep 600"])
    more = f'runtime = "command"\ncommand = {ignores_hangup}'
    async with cockpit.flying(cockpit.agent("api", "observe", prompt="", more=more)):
        row = await cockpit.start()
        await until(ready.exists)
    assert row.pane is not None
    cockpit.tmux("kill-pane", "-t", row.pane)
    async with cockpit.flying():
        left = await cockpit.row()
        assert (left.pid, left.pane) == (row.pid, None)
        for refused in (
            await cockpit.refused(Attach(name="api")),
            await cockpit.refused(Send(name="api", text="Go on.")),
            await looked_at(cockpit),
        ):
            assert refused.title == "api has no pane"
            assert "still running without a terminal" in refused.detail
            assert refused.hint == "Stop the agent, then start it again: cockpit stop api"
        await cockpit.ask(Stop(name="api"))
        ended = await cockpit.refused(Send(name="api", text="Go on."))
        assert (ended.title, ended.hint) == (
            "api is not running", "Start the agent: cockpit start api"
        )  # fmt: skip
        assert (await looked_at(cockpit)).hint == "Start the agent: cockpit start api"


async def looked_at(cockpit: Cockpit) -> NotNow:
    """Return the refusal of a request for the pane's screen."""
    with pytest.raises(NotNow) as refused:
        await anext(cast("Any", cockpit.client.screen("api")))
    return refused.value

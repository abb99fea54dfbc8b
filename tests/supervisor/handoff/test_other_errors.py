"""An error of what only records or prepares something delays no handoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.hooks.responses import SEAL
from cockpit.wire.verbs import Handoff

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_handoff_goes_on_while_no_compaction_can_be_held(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=200, step_tokens=100, pace=0.1)) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        marker = supervisor.dependencies.places.verdicts / "api" / SEAL
        marker.unlink(missing_ok=True)
        marker.mkdir(parents=True, exist_ok=True)  # the runtime cannot write its file there
        supervisor.fleet.agent("api").session_state.compaction.held = False
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.note and "watching the agent's state" in row.note)
        await cockpit.until(lambda row: row.handoffs == 1)

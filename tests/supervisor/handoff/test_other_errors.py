"""An error of what only records or prepares something delays no handoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.hooks.responses import SEAL
from cockpit.core.errors import OsProblem
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.handoff.snapshot import is_typing
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


async def test_a_full_disk_before_the_paste_delays_the_request_and_claims_no_text(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else text that the user types meanwhile would count as cockpit's own interrupted paste."""
    table = cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100)
    async with cockpit.flying(table) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        store, is_full = supervisor.dependencies.store, True
        save = store.save_handoff

        def fail_while_full(record: HandoffRecord) -> None:
            if is_full and record.details.typing:
                raise OsProblem("The disk is full")
            save(record)

        monkeypatch.setattr(store, "save_handoff", fail_while_full)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.note and "The disk is full" in row.note)
        assert not is_typing(supervisor.fleet.agent("api"))
        is_full = False
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        assert len(cockpit.prompts(first)) == 2  # the job's prompt, and one request
        assert await cockpit.events("handoff.request_failed") == []

"""An answer to a handoff that is over begins no other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.wire.verbs import Handoff

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_question_that_is_gone_is_said(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "done")
        refused = await cockpit.refused(Handoff(name="api", handoff="0a1b2c3d"))
        assert isinstance(refused, NotNow)
        assert "is over" in refused.detail
        assert "cockpit handoff api" in refused.hint
        assert (await cockpit.row()).handoff is None

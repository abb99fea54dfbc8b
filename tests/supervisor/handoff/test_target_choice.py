"""A CLI that cannot take over a job is refused with those that can."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cockpit.adapters.agents import runtime
from cockpit.core.errors import BadUsage
from cockpit.supervisor.handoff.target import Targets


@pytest.mark.parametrize("name", ["nosuch", "command"])
async def test_the_choice_has_only_clis_that_can_take_over(tmp_path: Path, name: str) -> None:
    world: Any = SimpleNamespace(runtimes=lambda each: runtime(each, tmp_path))
    agent: Any = SimpleNamespace(runtime=SimpleNamespace(name="claude"), session=None)
    sessions: Any = None
    with pytest.raises(BadUsage) as refused:
        await Targets(world, sessions).checked(agent, name, "")
    assert refused.value.hint == "Choose one of: claude, codex, gemini, opencode, copilot."

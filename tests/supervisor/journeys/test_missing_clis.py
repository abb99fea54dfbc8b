"""A start in a CLI, or a handoff to one, that is not installed: refused, with how to install it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import ProgramMissing
from cockpit.wire.verbs import Handoff, Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PACKAGES = {
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "copilot": "@github/copilot",
}

pytestmark = pytest.mark.tmux


async def test_a_missing_cli_is_refused_with_how_to_install_it(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = os.environ["PATH"].split(os.pathsep)
    without = [
        folder
        for folder in folders
        if not any(os.path.exists(os.path.join(folder, cli)) for cli in PACKAGES)  # noqa: PTH110, PTH118
    ]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    async with cockpit.flying(cockpit.agent(steps=1)):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle")
        for cli, package in PACKAGES.items():
            started = Start(name=f"in-{cli}", runtime=cli, directory=str(cockpit.repository))
            for asked in (started, Handoff(name="api", to=cli)):
                refused = await cockpit.refused(asked)
                assert isinstance(refused, ProgramMissing)
                assert f"npm install -g {package}" in refused.hint
        row = await cockpit.row()
        assert (row.pid, row.handoff) == (before.pid, None)
        await cockpit.ask(Stop(name="api"))

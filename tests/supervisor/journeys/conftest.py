"""The real CLIs of a journey, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.supervisor.journeys.claude_pilot import ClaudePilot
from tests.supervisor.journeys.cli_pilot import CliPilot, Pilots
from tests.supervisor.journeys.codex_pilot import CodexPilot
from tests.supervisor.journeys.copilot_pilot import CopilotPilot
from tests.supervisor.journeys.gemini_pilot import GeminiPilot
from tests.supervisor.journeys.opencode_pilot import OpencodePilot

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

CLIS: tuple[type[CliPilot], ...] = (
    ClaudePilot,
    CodexPilot,
    GeminiPilot,
    CopilotPilot,
    OpencodePilot,
)


@pytest.fixture
def pilots(cockpit: Cockpit, name: str) -> Iterator[Pilots]:
    """Makes the CLI of this name. A file about one CLI has its name in a fixture `name`."""
    (cli,) = (each for each in CLIS if each.runtime == name)
    if cli.program is None:
        pytest.skip(f"{name} is not installed: make clis")
    made = Pilots(cli, cockpit)
    yield made
    made.stop()

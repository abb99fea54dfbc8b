"""The real Copilot CLI for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
from pathlib import Path

from cockpit.demo.conversation import Reply, Request
from tests.supervisor.journeys.cli_pilot import CliPilot, installed

COPILOT = installed("copilot", "@github/copilot-*/copilot")
WINDOW = 100_000


class CopilotPilot(CliPilot):
    """Copilot's own folder and model for one cockpit."""

    runtime = "copilot"
    program = COPILOT

    def trust(self, *folders: Path) -> None:
        trusted = {"trustedFolders": [str(folder) for folder in folders]}
        (self.folder / "config.json").write_text(json.dumps(trusted))

    def environment(self) -> dict[str, str]:
        return {
            "COPILOT_HOME": str(self.folder),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "lab",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": self.model.url,
            "COPILOT_PROVIDER_API_KEY": "made up",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(WINDOW),
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "8000",
        }

    def typed(self, prompt: str) -> str:
        return f"{self.cockpit.home / 'bin' / 'copilot'} -i '{prompt}'"

    @classmethod
    def without_tools(cls, request: Request) -> Reply:
        return Reply("<summary>Steps.</summary>")

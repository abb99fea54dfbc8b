"""The real Codex for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
from pathlib import Path

from cockpit.demo.conversation import ToolCall
from tests.supervisor.journeys.cli_pilot import CliPilot, installed

CODEX = installed("codex", ".bin/codex")
WINDOW = 100_000
NAMED = 95_000
"""The window that Codex names for it."""


class CodexPilot(CliPilot):
    """Codex's own folder and model for one cockpit."""

    runtime = "codex"
    program = CODEX

    def trust(self, *folders: Path) -> None:
        trusted = "".join(
            f"[projects.{json.dumps(str(folder))}]\ntrust_level = 'trusted'\n" for folder in folders
        )
        (self.folder / "config.toml").write_text(
            f"model = 'lab'\nmodel_provider = 'lab'\nmodel_context_window = {WINDOW}\n"
            "check_for_update_on_startup = false\n"
            f"[model_providers.lab]\nname = 'Lab'\nbase_url = '{self.model.url}/v1'\n"
            "wire_api = 'responses'\nenv_key = 'LAB_KEY'\nrequest_max_retries = 0\n"
            "stream_max_retries = 0\n" + trusted
        )

    def environment(self) -> dict[str, str]:
        return {"CODEX_HOME": str(self.folder), "LAB_KEY": "made up"}

    def settings(self) -> dict[str, object]:
        """Without cockpit's tools: their server takes a second of processor time."""
        return {"mcp": False}

    def typed(self, prompt: str) -> str:
        return f"{self.cockpit.home / 'bin' / 'codex'} --no-daemon -- '{prompt}'"

    @classmethod
    def read(cls, path: str) -> ToolCall:
        return ToolCall("Bash", {"command": f"cat {path}"})

"""The real opencode for a test's cockpit: its own folders, its program, and a simulated model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.supervisor.journeys.cli_pilot import CliPilot, installed

OPENCODE = installed("opencode", "opencode-*/bin/opencode")
WINDOW = 100_000
REPLY = 8_000
NO_NETWORK = {
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "npm_config_registry": "http://127.0.0.1:9",
    "npm_config_fetch_retries": "0",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "no_proxy": "127.0.0.1,localhost",
}
"""opencode looks for models, updates and packages at its start; here it gives up at once."""


class OpencodePilot(CliPilot):
    """opencode's own folders and model for one cockpit."""

    runtime = "opencode"
    program = OPENCODE
    permission = ""
    has_prompt_file = False

    @property
    def transcripts(self) -> Path:
        """Written by cockpit's plugin: opencode itself has a database."""
        return self.cockpit.places.state / "opencode"

    def set_up(self) -> None:
        self.configure()

    def configure(self, **more: object) -> None:
        """Write the configuration, with `more` in it."""
        limit = {"context": WINDOW, "output": REPLY}
        provider = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "made up"},
            "models": {"large": {"limit": limit}, "small": {"limit": limit}},
        }
        whole = {"model": "lab/large", "small_model": "lab/small", "provider": {"lab": provider}}
        folder = self.folder / "config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps({**whole, **more}))

    def environment(self) -> dict[str, str]:
        folders = {
            f"XDG_{name.upper()}_HOME": str(self.folder / name)
            for name in ("config", "data", "state", "cache")
        }
        return {**folders, **NO_NETWORK}

    def typed(self, prompt: str) -> str:
        return f"{self.cockpit.home / 'bin' / 'opencode'} --prompt '{prompt}'"

"""The real opencode for a test's cockpit: its own folders, its program, and a simulated model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.demo.model import Answer, ModelServer

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"
INSTALLED = next(MODULES.glob("opencode-*/bin/opencode"), None)
OPENCODE = shutil.which("opencode") or (str(INSTALLED) if INSTALLED else None)
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


class OpencodePilot:
    """opencode's own folders and model for one cockpit."""

    def __init__(self, cockpit: Cockpit, answer: Answer, model: ModelServer | None = None) -> None:
        """With `model`, its answers come from one that runs already."""
        self.cockpit = cockpit
        self.model = model or ModelServer(answer)
        if model is None:
            self.model.start()
        self.folder = cockpit.home / "opencode"
        settings = self.folder / "config" / "opencode"
        settings.mkdir(parents=True)
        self.settings = settings / "opencode.json"
        self.settings.write_text(json.dumps(self._settings()))
        link = cockpit.home / "bin" / "opencode"
        assert OPENCODE is not None
        link.symlink_to(Path(OPENCODE).resolve())

    def _settings(self) -> dict[str, object]:
        limit = {"context": WINDOW, "output": REPLY}
        provider = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "made up"},
            "models": {"large": {"limit": limit}, "small": {"limit": limit}},
        }
        return {"model": "lab/large", "small_model": "lab/small", "provider": {"lab": provider}}

    def has_read(self, document: str) -> bool:
        """Whether the model opened a document."""
        return any(
            call.name == "Read" and call.path == document
            for request in self.model.requests
            for call in request.calls_made
        )

    def environment(self) -> dict[str, str]:
        folders = {
            f"XDG_{name.upper()}_HOME": str(self.folder / name)
            for name in ("config", "data", "state", "cache")
        }
        return {**folders, **NO_NETWORK}

    def table(self, mode: str = "prompt", more: str = "", permission: str = "") -> str:
        environment = "".join(
            f"{name} = {json.dumps(text)}\n" for name, text in self.environment().items()
        )
        return (
            f"[[agents]]\nname = 'api'\nruntime = 'opencode'\npermission_mode = '{permission}'\n"
            f"mode = '{mode}'\ndirectory = {json.dumps(str(self.cockpit.repository))}\n"
            f"prompt = '!Count the steps.'\n{more}\n[agents.env]\n{environment}"
        )

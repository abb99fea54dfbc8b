"""The real Gemini CLI for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.gemini.program import find_program
from cockpit.demo.model import Answer, ModelServer

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

INSTALLED = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules" / ".bin" / "gemini"
GEMINI = shutil.which("gemini") or (str(INSTALLED) if INSTALLED.exists() else None)


@cache
def _linked() -> Path:
    """A home of Gemini in which its command has linked the extension."""
    home = Path(tempfile.mkdtemp(prefix="gemini-linked-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    environment = {"GEMINI_CLI_HOME": str(home), "PATH": os.environ["PATH"]}
    assert GEMINI is not None
    program = find_program(environment, path=Path(GEMINI))
    extension.link(program, environment, home / "gemini-extension")
    return home


class GeminiPilot:
    """Gemini's own folder and model for one cockpit."""

    def __init__(self, cockpit: Cockpit, answer: Answer, model: ModelServer | None = None) -> None:
        """With `model`, its answers come from one that runs already."""
        self.cockpit = cockpit
        self.model = model or ModelServer(answer)
        if model is None:
            self.model.start()
        self.folder = cockpit.home / "gemini"
        (self.folder / ".gemini").mkdir(parents=True)
        assert GEMINI is not None
        (cockpit.home / "bin" / "gemini").symlink_to(Path(GEMINI).resolve())
        self.settings()
        self.trust(cockpit.repository)

    def settings(self) -> None:
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                "maxAttempts": 1,
            },
            "privacy": {"usageStatisticsEnabled": False},
        }
        (self.folder / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def trust(self, *folders: Path) -> None:
        trusted = {str(folder): "TRUST_FOLDER" for folder in folders}
        (self.folder / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))

    def environment(self) -> dict[str, str]:
        return {"GEMINI_CLI_HOME": str(self.folder), "PATH": os.environ["PATH"]}

    def link(self) -> None:
        """As `cockpit setup gemini` does. Copies what its command wrote for the first test,
        because it takes 2 s of processor time."""
        linked, ours = _linked() / ".gemini", self.folder / ".gemini"
        shutil.copytree(linked, ours, dirs_exist_ok=True)
        enabled = ours / "extensions" / "extension-enablement.json"
        enabled.write_text(enabled.read_text().replace(str(linked.parent), str(self.folder)))
        assert extension.state_of(self.environment()) is extension.Linked.YES

    def has_read(self, document: str) -> bool:
        """Whether the model got the content of a document."""
        text = "Watch the server."
        asked = f"cat {document}"
        return any(
            call.input.get("command") == asked and text in request.latest
            for request in self.model.requests
            for call in request.last_calls
        )

    def records(self) -> list[Path]:
        return sorted(self.folder.glob(".gemini/tmp/*/chats/session-*.jsonl"))

    def table(self, mode: str = "prompt", more: str = "") -> str:
        return (
            "[[agents]]\nname = 'api'\nruntime = 'gemini'\npermission_mode = 'bypassPermissions'\n"
            f"mode = '{mode}'\nmodel = 'gemini-2.5-pro'\n"
            f"directory = {json.dumps(str(self.cockpit.repository))}\n"
            f"prompt = 'Count the steps.'\n{more}\n"
            f"[agents.env]\nGEMINI_CLI_HOME = {json.dumps(str(self.folder))}\n"
            f"GEMINI_API_KEY = 'made up'\nGOOGLE_GEMINI_BASE_URL = '{self.model.url}'\n"
        )

"""The real Copilot CLI for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.demo.model import Answer, ModelServer

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"
INSTALLED = next(MODULES.glob("@github/copilot-*/copilot"), None)
COPILOT = shutil.which("copilot") or (str(INSTALLED) if INSTALLED else None)
WINDOW = 100_000


class CopilotPilot:
    """Copilot's own folder and model for one cockpit."""

    def __init__(self, cockpit: Cockpit, answer: Answer, model: ModelServer | None = None) -> None:
        """With `model`, its answers come from one that runs already."""
        self.cockpit = cockpit
        self.model = model or ModelServer(answer)
        if model is None:
            self.model.start()
        self.folder = cockpit.home / "copilot"
        self.folder.mkdir()
        self.trust(cockpit.repository)
        link = cockpit.home / "bin" / "copilot"
        assert COPILOT is not None
        link.symlink_to(Path(COPILOT).resolve())

    def trust(self, *folders: Path) -> None:
        trusted = {"trustedFolders": [str(folder) for folder in folders]}
        (self.folder / "config.json").write_text(json.dumps(trusted))

    def has_read(self, document: str) -> bool:
        """Whether the model opened a document."""
        return any(
            call.name == "Read" and call.path == document
            for request in self.model.requests
            for call in request.calls_made
        )

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

    def table(
        self, mode: str = "prompt", more: str = "", permission: str = "bypassPermissions"
    ) -> str:
        lines = "".join(
            f"{name} = {json.dumps(text)}\n" for name, text in self.environment().items()
        )
        return (
            f"[[agents]]\nname = 'api'\nruntime = 'copilot'\npermission_mode = '{permission}'\n"
            f"mode = '{mode}'\ndirectory = {json.dumps(str(self.cockpit.repository))}\n"
            f"prompt = '!Count the steps.'\n{more}\n[agents.env]\n{lines}"
        )

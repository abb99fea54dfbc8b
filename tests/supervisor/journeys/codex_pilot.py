"""The real Codex for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.demo.model import Answer, ModelServer

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

INSTALLED = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules" / ".bin" / "codex"
CODEX = shutil.which("codex") or (str(INSTALLED) if INSTALLED.exists() else None)
WINDOW = 100_000


class CodexPilot:
    """Codex's own folder and model for one cockpit."""

    def __init__(self, cockpit: Cockpit, answer: Answer) -> None:
        self.cockpit = cockpit
        self.model = ModelServer(answer)
        self.model.start()
        self.folder = cockpit.home / "codex"
        self.folder.mkdir()
        self.trust(cockpit.repository)
        link = cockpit.home / "bin" / "codex"
        assert CODEX is not None
        link.symlink_to(Path(CODEX).resolve())

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

    def has_read(self, document: str) -> bool:
        """Whether the model opened a document."""
        return any(
            call.name == "Read" and call.path == document
            for request in self.model.requests
            for call in request.calls_made
        )

    def table(self, mode: str = "prompt", more: str = "", *, tools: bool = False) -> str:
        """cockpit's tools only with `tools`: their server takes a second of processor time."""
        return (
            "[[agents]]\nname = 'api'\nruntime = 'codex'\npermission_mode = 'bypassPermissions'\n"
            f"mode = '{mode}'\ndirectory = {json.dumps(str(self.cockpit.repository))}\n"
            f"prompt = 'Count the steps.'\nmcp = {str(tools).lower()}\n{more}\n"
            f"[agents.env]\nCODEX_HOME = {json.dumps(str(self.folder))}\nLAB_KEY = 'made up'\n"
        )

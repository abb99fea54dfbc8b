"""The real Gemini CLI for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import ClassVar

from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.gemini.program import find_program
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from tests.supervisor.journeys.cli_pilot import CliPilot, installed

GEMINI = installed("gemini", ".bin/gemini")
WINDOW = 1_048_576


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


class GeminiPilot(CliPilot):
    """Gemini's own folder and model for one cockpit."""

    runtime = "gemini"
    program = GEMINI
    counts_output = False
    linked: ClassVar[bool] = True
    """Whether the user has linked cockpit's extension."""

    def set_up(self) -> None:
        (self.folder / ".gemini").mkdir()
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
        if self.linked:
            self.link()

    def trust(self, *folders: Path) -> None:
        trusted = {str(folder): "TRUST_FOLDER" for folder in folders}
        (self.folder / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))

    def environment(self) -> dict[str, str]:
        return {
            "GEMINI_CLI_HOME": str(self.folder),
            "GEMINI_API_KEY": "made up",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
        }

    def settings(self) -> dict[str, object]:
        return {"model": "gemini-2.5-pro"}

    def typed(self, prompt: str) -> str:
        return f"{self.cockpit.home / 'bin' / 'gemini'} -m gemini-2.5-pro -i '{prompt}'"

    def link(self) -> None:
        """As `cockpit setup gemini` does. Copies what its command wrote for the first test,
        because it takes 2 s of processor time."""
        linked, ours = _linked() / ".gemini", self.folder / ".gemini"
        shutil.copytree(linked, ours, dirs_exist_ok=True)
        enabled = ours / "extensions" / "extension-enablement.json"
        enabled.write_text(enabled.read_text().replace(str(linked.parent), str(self.folder)))
        environment = {**self.environment(), "PATH": os.environ["PATH"]}
        assert extension.state_of(environment) is extension.Linked.YES

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

    @classmethod
    def opens(cls, request: Request) -> ToolCall | None:
        if request.is_compacted or "<state_snapshot>" in request.opening:
            return None
        return super().opens(request)

    @classmethod
    def without_tools(cls, request: Request) -> Reply:
        return Reply("<state_snapshot>All steps so far.</state_snapshot>")

    @classmethod
    def ends(cls, request: Request) -> Reply | None:
        if not request.told_to_end:
            return None
        return Reply("The document is written.", tokens=TokenCount(cache_read=80_000))

    @classmethod
    def read(cls, path: str) -> ToolCall:
        return ToolCall("Bash", {"command": f"cat {path}"})

    @classmethod
    def read_document(cls, path: str) -> ToolCall:
        return cls.read(path)


class UnlinkedGeminiPilot(GeminiPilot):
    """Gemini without cockpit's extension."""

    linked = False

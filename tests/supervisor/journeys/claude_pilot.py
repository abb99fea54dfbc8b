"""The real Claude Code for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.job import EVERYTHING
from cockpit.demo.model import Answer, ModelServer
from cockpit.demo.scratch import agent_environment, put_onboarding, table

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

BUNDLED = bundled_path()
CLAUDE = str(BUNDLED) if BUNDLED is not None else None
KEY = "sk-ant-made-up-0123456789abcdefghij"
SHORT_SESSION = {"BUN_JSC_useDFGJIT": "0"}
"""The CLI's JavaScript engine compiles to optimized code only what then runs for minutes.

In the sessions of tests, of seconds, that takes a fifth of their processor time.
"""


class ClaudePilot:
    """Claude Code's own folder and model for one cockpit."""

    def __init__(self, cockpit: Cockpit, answer: Answer) -> None:
        self.cockpit = cockpit
        self.model = ModelServer(answer)
        self.model.start()
        self.folder = cockpit.home / "claude"
        self.folder.mkdir(exist_ok=True)
        put_onboarding(self.folder, KEY, cockpit.repository)
        program = cockpit.home / "bin" / "claude"
        program.unlink(missing_ok=True)
        assert CLAUDE is not None
        program.symlink_to(Path(CLAUDE))

    def has_read(self, document: str) -> bool:
        """Whether the model opened a document."""
        return any(
            call.name == "Read" and call.path == document
            for request in self.model.requests
            for call in request.calls_made
        )

    def table(self, mode: str = "prompt", more: str = "") -> str:
        """Without cockpit's tools: their server takes a second of processor time."""
        env = {
            **agent_environment(KEY, self.model.url),
            **SHORT_SESSION,
            "CLAUDE_CONFIG_DIR": str(self.folder),
            # Its ten attempts after a usage limit take three minutes.
            "CLAUDE_CODE_MAX_RETRIES": "1",
        }
        return (
            "[[agents]]\nname = 'api'\nruntime = 'claude'\nmodel = 'claude-sonnet-4-6'\n"
            f"mode = '{mode}'\npermission_mode = 'acceptEdits'\nmcp = false\n"
            f"arguments = ['--allowedTools', {json.dumps(EVERYTHING)}]\n"
            f"directory = {json.dumps(str(self.cockpit.repository))}\nprompt = 'Count the steps.'\n"
            f"env = {table(env)}\n{more}\n"
        )

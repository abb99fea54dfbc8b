"""The real Claude Code for a test's cockpit: its own folder, its program, and a simulated model."""

from __future__ import annotations

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.job import EVERYTHING
from cockpit.demo.scratch import agent_environment, put_onboarding
from tests.journeys.short_session import SHORT_SESSION
from tests.supervisor.journeys.cli_pilot import CliPilot

BUNDLED = bundled_path()
CLAUDE = str(BUNDLED) if BUNDLED is not None else None
KEY = "sk-ant-made-up-0123456789abcdefghij"


class ClaudePilot(CliPilot):
    """Claude Code's own folder and model for one cockpit."""

    runtime = "claude"
    program = CLAUDE
    prompt = "Count the steps."
    permission = "acceptEdits"
    counts_output = False
    act = 145_000
    has_prompt_file = False

    def set_up(self) -> None:
        put_onboarding(self.folder, KEY, self.cockpit.repository)

    def environment(self) -> dict[str, str]:
        return {
            **agent_environment(KEY, self.model.url),
            **SHORT_SESSION,
            "CLAUDE_CONFIG_DIR": str(self.folder),
            # Its ten attempts after a usage limit take three minutes.
            "CLAUDE_CODE_MAX_RETRIES": "1",
        }

    def settings(self) -> dict[str, object]:
        """Without cockpit's tools: their server takes a second of processor time."""
        return {
            "model": "claude-sonnet-4-6",
            "arguments": ["--allowedTools", EVERYTHING],
            "mcp": False,
        }

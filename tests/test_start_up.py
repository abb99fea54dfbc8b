"""What each way into cockpit must not have loaded by the time it is useful."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "textual", "rich", "claude_agent_sdk", "mcp", "starlette", "uvicorn", "libtmux", "jinja2",
    "tomlkit", "pydantic", "click", "asyncio", "markdown_it",
}  # fmt: skip
"""Each costs between 20 ms and 2 s."""


@pytest.mark.parametrize(
    ("way_in", "may_load"),
    [
        ("import cockpit.__main__", set()),
        ("import cockpit.cli.status", set()),
        ("import cockpit.cli.dial_stdio", set()),
        ("import cockpit.cli.attach", {"asyncio"}),
        ("import cockpit.cli.screen", {"asyncio"}),
        ("import cockpit.cli.config_file, cockpit.cli.supervisor_process", set()),
        ("import cockpit.cli.commands", {"click"}),
        ("import cockpit.cli.requests", {"click"}),
        ("import cockpit.cli.mcp", {"click"}),
        ("import cockpit.client.http", {"pydantic", "asyncio"}),
        ("import cockpit.config.read", {"pydantic"}),
        ("import cockpit.adapters.agents.claude.runtime", {"asyncio"}),
        # uvicorn has a command line of its own, hence click.
        (
            "import cockpit.supervisor.main",
            {"pydantic", "asyncio", "starlette", "uvicorn", "click"},
        ),
        ("import cockpit.cli.screen_modes", {"pydantic", "asyncio"}),
        ("import cockpit.tui.app", {"pydantic", "asyncio", "textual", "rich"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_heavy_waits(way_in: str, may_load: set[str]) -> None:
    program = f"{way_in}\nimport sys\nprint(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    loaded = {module.split(".")[0] for module in done.stdout.split()} & HEAVY
    assert loaded - may_load == set()


def test_a_step_of_a_move_loads_no_agents() -> None:
    """It is started once for each step, on both machines. Agents are a third of its start."""
    program = "import cockpit.cli.move_steps\nimport sys\nprint(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    loaded = done.stdout.split()
    assert "cockpit.supervisor.sessions.location" in loaded
    assert not [name for name in loaded if name.startswith("cockpit.supervisor.agents.")]

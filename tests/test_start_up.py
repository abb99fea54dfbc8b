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


COUNTED = """
import dataclasses, re, sys

built = {"patterns": 0, "dataclasses": 0}


def counted(kind, make):
    def count(*arguments, **options):
        ours = sys._getframe(1).f_globals.get("__name__", "").startswith("cockpit.")
        built[kind] += ours and options.get("init", True)
        return make(*arguments, **options)

    return count


re.compile = counted("patterns", re.compile)
dataclasses.dataclass = counted("dataclasses", dataclasses.dataclass)
"""
COUNTS = """
modules = [name for name in sys.modules if name.startswith("cockpit")]
models = []
if "pydantic" in sys.modules:
    left = [sys.modules["pydantic"].BaseModel]
    while left:
        left += (found := left.pop().__subclasses__())
        models += [one for one in found if one.__module__.startswith("cockpit.")]
complete = [one for one in models if one.__pydantic_complete__ and one.model_fields]
print(len(modules), built["patterns"], built["dataclasses"], len(complete))
"""


@pytest.mark.parametrize(
    ("way_in", "most"),
    [
        ("import cockpit.cli.screen", (60, 32, 4, 0)),
        ("import cockpit.cli.screen_modes, cockpit.cli.tui, cockpit.tui.app", (212, 56, 12, 14)),
        ("import cockpit.supervisor.main", (455, 108, 22, 14)),
    ],
    ids=["terminal", "screen", "supervisor"],
)
def test_the_first_frame_waits_for_little_of_our_own(
    way_in: str, most: tuple[int, int, int, int]
) -> None:
    """The numbers of modules, compiled patterns, dataclasses with compiled methods, and models with
    a validator.

    Each costs 0.1 to 0.6 ms before the first frame; a gradual increase made it 1.5 times as late.
    Before raising a number: import what the first frame does not need where it is used, and use
    `core.deferred_pattern` and `core.deferred_dataclass`.
    """
    program = f"{COUNTED}\n{way_in}\n{COUNTS}"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    counts = tuple(map(int, done.stdout.split()))
    assert all(count <= limit for count, limit in zip(counts, most, strict=True)), counts

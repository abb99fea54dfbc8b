"""The example file says every setting, and every line of it is true."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from cockpit.config.hooks import Hook
from cockpit.config.schema import AgentDefaults, Settings
from cockpit.config.shipped import example_file
from tests.config.generated_example import example


def _uncommented(text: str) -> str:
    """With the tables that are shown commented out."""
    return re.sub(r"^# (?=\[|[a-z_]+ = )", "", text, flags=re.MULTILINE)


def test_the_file_in_the_repository_is_the_one_the_schema_makes() -> None:
    """Red? Run `python -m tests.config.renew`."""
    assert example_file().read_text() == example()


def test_it_loads_to_the_defaults(project: Any) -> None:
    loaded = project.load_named(example())
    assert loaded.settings == Settings()
    assert loaded.notices == ()
    project.write(example())
    assert project.load().held == ()


def test_what_is_commented_out_would_work_too(project: Any) -> None:
    loaded = project.load_named(_uncommented(example()))
    agent = loaded.agent("api")
    assert agent.worktree.strategy == "git_worktree"
    assert [event for event, _ in agent.hooks.written()] == [
        "on_context_threshold",
        "on_handoff_complete",
        "on_needs_you",
    ]
    assert [host.name for host in loaded.settings.hosts] == ["gpu1"]


def test_every_setting_is_in_it() -> None:
    data = tomllib.loads(_uncommented(example()))
    for name, field in AgentDefaults.model_fields.items():
        if name != "hooks":
            assert name in data["defaults"]
            if isinstance(data["defaults"][name], dict) and name not in ("env", "cap"):
                assert set(type(field.default).model_fields) == set(data["defaults"][name])
    assert set(Settings.model_fields) <= set(data)
    shown = {key for hooks in data["agents"][0]["hooks"].values() for hook in hooks for key in hook}
    assert shown >= set(Hook.model_fields) - {"urls"}


def test_no_line_is_too_long_for_a_terminal_and_none_has_no_words() -> None:
    for line in example().splitlines():
        assert len(line) <= 100
    for before, line in zip(example().splitlines(), example().splitlines()[1:], strict=False):
        if re.match(r"[a-z_]+ = ", line):
            assert before.startswith("# ")

"""Which kinds of agents there are, and what is said of those that are not there yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.core.errors import BadUsage, NotNow


@pytest.mark.parametrize("name", ["claude", "codex", "command"])
def test_a_runtime_is_made_by_its_name(name: str, tmp_path: Path) -> None:
    assert runtime(name, tmp_path).name == name


@pytest.mark.parametrize("name", ["gemini"])
def test_a_planned_one_says_so_and_what_to_do_meanwhile(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotNow, match="not supported yet") as refused:
        runtime(name, tmp_path).program({})
    assert runtime(name, tmp_path).name == name
    assert "command" in refused.value.hint


def test_an_unknown_one_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as refused:
        runtime("emacs", tmp_path)
    for name in RUNTIMES:
        assert name in refused.value.hint

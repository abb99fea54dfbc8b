"""Which kinds of agents there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.core.errors import BadUsage


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_runtime_is_made_by_its_name(name: str, tmp_path: Path) -> None:
    assert runtime(name, tmp_path).name == name


def test_an_unknown_one_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as refused:
        runtime("emacs", tmp_path)
    for name in RUNTIMES:
        assert name in refused.value.hint

"""Which kinds of agents there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters import agents
from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.adapters.agents.live_readers import live_readers
from cockpit.adapters.agents.tested_versions import TESTED
from cockpit.adapters.agents.transcript_formats import format_of
from cockpit.config.own_runtimes import BUILT_IN
from cockpit.core.errors import BadUsage
from cockpit.core.tool_names import SUCCESSORS
from tests.adapters.agents.cases import case


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_runtime_is_made_by_its_name(name: str, tmp_path: Path) -> None:
    assert runtime(name, tmp_path).name == name


def test_an_unknown_one_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as refused:
        runtime("emacs", tmp_path)
    for name in RUNTIMES:
        assert name in refused.value.hint


def test_each_folder_with_a_runtime_is_in_every_list() -> None:
    """`own` is the runtime of the programs that users define."""
    folders = {file.parent.name for file in Path(agents.__path__[0]).glob("*/runtime.py")} - {"own"}

    assert {*RUNTIMES} == folders | {"command"}
    assert BUILT_IN == RUNTIMES
    assert {*SUCCESSORS} == TESTED.keys() == folders
    assert live_readers({}, Path()).keys() == folders


@pytest.mark.parametrize("name", SUCCESSORS)
def test_the_format_of_its_transcripts_is_recognised(name: str, tmp_path: Path) -> None:
    recorded = case(name, tmp_path).transcripts

    assert {format_of(path).cli for path in recorded} == {name}

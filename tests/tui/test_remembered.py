"""A view outlives its screen; a file that cannot be read or written costs nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cockpit.tui.state.remembered import View, ViewMemory


def test_the_view_is_written_whole_and_only_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    memory = ViewMemory(file)
    assert memory.view == View()
    memory.keep(selected=None)
    assert not file.exists()
    memory.change(list_height=30)
    assert not file.exists()
    memory.keep(selected="api", sort="cost", beside=False)
    assert ViewMemory(file).view == View("api", "cost", False, 30, 60)
    assert [one.name for one in tmp_path.iterdir()] == ["screen.json"]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "nonsense", ["", "[1]", '{"selected": 3}', "\x00", '{"list_height": true}']
)
def test_what_makes_no_sense_is_as_if_it_were_not_there(nonsense: str, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    file.write_text(nonsense)
    assert ViewMemory(file).view == View()


def test_what_makes_sense_beside_nonsense_counts(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    written = {"selected": "api", "list_width": 700, "beside": "yes", "of": "a newer version"}
    file.write_text(json.dumps(written))
    assert ViewMemory(file).view == View(selected="api")


def test_nothing_depends_on_it(tmp_path: Path) -> None:
    memory = ViewMemory(tmp_path / "no" / "such" / "folder.json")
    memory.keep(selected="api")
    assert memory.view.selected == "api"
    ViewMemory(None).keep(selected="api")

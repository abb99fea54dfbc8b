"""The rows that a supervisor keeps for the next start of the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.supervisor.view.kept_rows import KeptRows
from tests.cli.test_status import FULL, row
from tests.manual_clock import ManualClock

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


def test_rows_are_kept_without_the_words_of_an_agent(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    clock = ManualClock()

    KeptRows(file, clock).keep([row("api", context=FULL, activity="secret", note="secret")])

    (kept,) = json.loads(file.read_bytes())["agents"]
    assert (kept["name"], kept["state"], kept["context"]["tokens"]) == ("api", "working", 142_000)
    assert "secret" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_same_rows_are_written_once(tmp_path: Path) -> None:
    rows = KeptRows(tmp_path / "rows.json", ManualClock())
    rows.keep([row("api")])
    (tmp_path / "rows.json").unlink()

    rows.keep([row("api", activity="other words")])
    assert not (tmp_path / "rows.json").exists()

    rows.keep([row("api", state="idle")])
    assert (tmp_path / "rows.json").exists()


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    KeptRows(tmp_path / "missing" / "rows.json", ManualClock()).keep([row("api")])


@pytest.mark.tmux
async def test_a_supervisor_keeps_its_rows_when_it_ends(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent("api", "prompt", steps=3, pause=2)):
        await cockpit.start("api")

    (kept,) = json.loads(cockpit.places.last_rows.read_bytes())["agents"]
    assert kept["name"] == "api"

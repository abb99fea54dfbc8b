"""That a power cut takes what was not synced, and nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.faults import power


def test_what_was_synced_is_there_after_a_cut_and_nothing_else() -> None:
    if (reason := power.reason_against()) is not None:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="ckfaults-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        power.plug_in(home)
        try:
            written(home / "synced", sync=True)
            written(home / ".renamed.tmp", sync=False)
            (home / ".renamed.tmp").rename(home / "renamed")
            written(home / "last", sync=True)  # which takes the names of all others along
            written(home / "never", sync=False)
            power.cut(home)
            written(home / "after", sync=True)
            power.switch_on(home)
            left = {path.name: path.read_text() for path in home.iterdir() if path.is_file()}
            assert left == {"synced": "words", "last": "words", "renamed": ""}
        finally:
            power.throw_away(home)
        assert list(Path(folder).iterdir()) == [home]


def written(path: Path, *, sync: bool) -> None:
    with path.open("w") as file:
        file.write("words")
        file.flush()
        if sync:
            os.fsync(file.fileno())

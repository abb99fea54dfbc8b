"""Facts that are kept before a compaction: durable, private, and only the newest few."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cockpit.adapters.documents.compaction_facts import KEPT, CompactionDocuments
from cockpit.core.errors import Failed


def test_the_newest_few_of_each_session_stay(tmp_path: Path) -> None:
    documents = CompactionDocuments(tmp_path / "compactions")
    paths = [documents.keep("s-1", float(at), f"text {at}") for at in range(1, KEPT + 3)]
    other = documents.keep("s-2", 1.0, "other")
    assert [path.exists() for path in paths] == [False, False] + [True] * KEPT
    assert (paths[-1].read_text(), other.read_text()) == (f"text {KEPT + 2}", "other")
    assert paths[-1].stat().st_mode & 0o777 == 0o600


def test_old_ones_are_removed(tmp_path: Path) -> None:
    documents = CompactionDocuments(tmp_path / "compactions")
    documents.forget(1e12)
    old, new = documents.keep("s-1", 1.0, "old"), documents.keep("s-1", 2.0, "new")
    os.utime(old, (1.0, 1.0))
    documents.forget(1_000.0)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_state_folder_behind_a_link_is_used(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to("disk")
    documents = CompactionDocuments(tmp_path / "state" / "compactions")
    assert documents.keep("s-1", 1.0, "text").read_text() == "text"
    assert [path.parent.name for path in tmp_path.glob("disk/*/*.md")] == ["compactions"]


def test_an_id_that_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failed):
        CompactionDocuments(tmp_path).keep("../x", 1.0, "text")

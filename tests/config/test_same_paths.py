"""Two spellings of one path are the same where the file system says so, and only there.

A second name of the same file stands for a folder on a file system without case.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.config.same_paths import is_within, same_path


@pytest.fixture
def spelled(tmp_path: Path) -> tuple[Path, Path]:
    """Two spellings of one path, that differ in case and in the form of an accent."""
    created, typed = tmp_path / "Caf\u00e9", tmp_path / "cafe\u0301"
    created.write_text("")
    typed.hardlink_to(created)
    return created, typed


def test_two_spellings_of_one_path_are_the_same(spelled: tuple[Path, Path]) -> None:
    created, typed = spelled
    assert same_path(created, typed)
    assert is_within(created, typed)
    assert is_within(created / "below", typed)
    assert not is_within(created.parent, typed)
    assert not is_within(created.with_name("Coffee") / "below", typed)


def test_with_case_they_are_two_folders(tmp_path: Path) -> None:
    one, other = tmp_path / "Code", tmp_path / "code"
    one.mkdir()
    other.mkdir(exist_ok=True)
    are_one = one.samefile(other)
    assert same_path(one, other) is are_one
    assert is_within(one / "below", other) is are_one


def test_links_are_followed_and_what_is_missing_is_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert same_path(tmp_path / "link", tmp_path / "real")
    assert same_path(tmp_path / "missing", tmp_path / "missing")
    assert not same_path(tmp_path / "missing", tmp_path / "Missing")

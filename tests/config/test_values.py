"""What a value may hold, where it later becomes part of a command, a path or a branch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from cockpit.config.values import (
    BranchPattern,
    FolderInside,
    GitName,
    KeyTable,
    Location,
    WindowSize,
)


def _valid(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", ["main", "agent/api/lin-42", "v1.2", "feature/über", "a_b@c", ""])
def test_branches_that_git_takes(name: str) -> None:
    assert _valid(GitName, name)


@pytest.mark.parametrize(
    "name",
    ["-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "/a", "a/", "a//b", "a.",
     "a.lock", "a.lock/b", ".a", "a/.b", "a/-b", "a@{1}", "a\nb", "a\x7f", "a\x1b", "\u202eab"],
)  # fmt: skip
def test_branches_that_git_or_a_terminal_would_take_for_something_else(name: str) -> None:
    assert not _valid(GitName, name)


@pytest.mark.parametrize("pattern", ["{agent}", "agent/{agent}/{work_item}", "x-{job}"])
def test_branch_patterns(pattern: str) -> None:
    assert _valid(BranchPattern, pattern)


@pytest.mark.parametrize("pattern", ["", "{name}", "{agent", "a}b", "{}", "-{agent}", "{agent!r}"])
def test_what_is_no_branch_pattern(pattern: str) -> None:
    assert not _valid(BranchPattern, pattern)


@given(st.text(max_size=20))
def test_an_accepted_pattern_can_always_be_filled_in(text: str) -> None:
    if _valid(BranchPattern, text):
        assert text.format(agent="a", work_item="b", job="c")


@pytest.mark.parametrize("folder", [".cockpit/handoffs", "docs", "a b/ü"])
def test_folders_inside_a_worktree(folder: str) -> None:
    assert _valid(FolderInside, folder)


GIT_NAMES = ["sub/.git", ".GIT/hooks", "a/.Git", ".git./x", "git~1", ".g\u200cit", ".git::$INDEX"]


@pytest.mark.parametrize("written", [".git", "/x/.git/refs/heads", "../.git/hooks", *GIT_NAMES])
def test_a_location_is_not_in_a_folder_of_gits(written: str) -> None:
    assert not _valid(Location, written)
    assert _valid(Location, "/x/.github/trees")


@pytest.mark.parametrize(
    "folder", ["", ".", "/a", "../a", "a/../../b", ".git", ".git/x", "a\nb", *GIT_NAMES]
)
def test_folders_that_are_not_inside_a_worktree(folder: str) -> None:
    assert not _valid(FolderInside, folder)


def test_a_window_is_a_number_or_auto() -> None:
    adapter: TypeAdapter[str | int] = TypeAdapter(WindowSize)
    assert [adapter.validate_python(w) for w in ("auto", "1M", 200_000)] == [
        "auto", 1_000_000, 200_000,
    ]  # fmt: skip
    assert not _valid(WindowSize, 100)
    assert not _valid(WindowSize, "10 windows")


def test_keys_can_be_a_list() -> None:
    assert TypeAdapter(KeyTable).validate_python({"quit": ["q", "ctrl+c"]}) == {"quit": "q,ctrl+c"}

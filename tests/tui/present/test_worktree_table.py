"""Worktrees as a table: aligned, whole at every width, and with nothing made up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from cockpit.tui.present.span import plain
from cockpit.tui.present.words import disk_space
from cockpit.tui.present.worktree_table import detail, heading, row, table
from cockpit.tui.present.worktrees import Keys, Sizes
from cockpit.wire.worktrees import WorktreeStatus
from tests.tui.screens.test_worktrees_screen import tree

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
WIDE = "漢字\x1b]0;x\x07" * 30
TREES = [
    tree("api", state="needs_you", changed=2, untracked=1, made_at="2026-11-19T20:00:00+00:00"),
    tree("durations", branch="agent/durations/a-long-name-of-a-branch-1234", alone=3),
    tree("mine", made=False, agent=None, branch=None),
    tree(WIDE, branch=WIDE, agent=WIDE),
    tree("unknown", changed=None, untracked=None),
]


@pytest.mark.parametrize("width", [20, 40, 58, 78, 98, 118, 198])
def test_every_row_and_the_titles_have_exactly_the_width(width: int) -> None:
    shown = table(TREES, NOW, width, "")
    for spans in (heading(shown, width), *(row(one, shown, NOW, "") for one in TREES)):
        assert "\x1b" not in plain(spans)
        assert cell_len(plain(spans)) == width


def test_columns_stand_below_their_titles() -> None:
    trees = TREES[:3]
    shown = table(trees, NOW, 118, "")
    titles = plain(heading(shown, 118))
    first, second, third = (plain(row(one, shown, NOW, "")) for one in trees)
    for title, cell in (
        ("worktree", "api"), ("branch", "agent/api"), ("agent", "api"), ("state", "needs you"),
        ("contains", "2 files changed, 1 untracked"),
    ):  # fmt: skip
        assert first[titles.index(title) :].startswith(cell)
    assert first.endswith(" 2d")
    assert "3 commits not pushed or merged" in second
    assert third[titles.index("agent") :].startswith("not cockpit's")
    assert third[titles.index("state") :].startswith("–")
    assert third.endswith("–")


SIZED = [
    tree("api", size=2_140_000_000, size_partial=True),
    tree("web", size=4_096),
    tree("closed"),
    tree("lost", missing=True),
]


def sizes_at(width: int, sizes: Sizes) -> list[str]:
    shown = table(SIZED, NOW, width, "", sizes)
    title = plain(heading(shown, width))
    end = title.index("size") + len("size") if "size" in title else 0
    rows = (plain(row(one, shown, NOW, "")) for one in SIZED)
    return [each[end - 11 : end].strip() for each in rows] if end else []


def test_a_size_is_shown_as_far_as_it_is_known() -> None:
    assert sizes_at(98, Sizes.MEASURED) == ["over 2.1 GB", "4.1 kB", "–", "–"]
    unknown = [one.model_copy(update={"size": None}) for one in SIZED]
    shown = table(unknown, NOW, 98, "", Sizes.MEASURING)
    assert "measuring…" in plain(row(unknown[0], shown, NOW, ""))
    assert "measuring…" not in plain(row(unknown[3], shown, NOW, ""))
    assert sizes_at(98, Sizes.NOT_REQUESTED) == []


@pytest.mark.parametrize("width", [20, 40, 58, 78, 98, 118, 198])
def test_with_sizes_every_row_has_exactly_the_width(width: int) -> None:
    trees = [*SIZED, *TREES]
    shown = table(trees, NOW, width, "", Sizes.MEASURED)
    for spans in (heading(shown, width), *(row(one, shown, NOW, "") for one in trees)):
        assert cell_len(plain(spans)) == width


def test_a_size_without_room_in_the_row_is_below_it() -> None:
    shown = table(SIZED, NOW, 36, "", Sizes.MEASURED)
    assert "size" not in shown.widths
    lines = [plain(line) for line in detail(SIZED[0], shown, NOW, 36, [], Keys(), "")]
    assert "  size: over 2.1 GB" in lines
    wide = table(SIZED, NOW, 98, "", Sizes.MEASURED)
    assert "GB" not in "".join(
        plain(one) for one in detail(SIZED[0], wide, NOW, 98, [], Keys(), "")
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (4096, "4.1 kB"), (9_949, "9.9 kB"),
        (9_950, "10 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (12_300_000, "12 MB"),
        (2_140_000_000, "2.1 GB"), (5 * 10**15, "5000 TB"),
    ],
)  # fmt: skip
def test_bytes_are_in_decimal_units(count: int, text: str) -> None:
    assert disk_space(count) == text


def test_on_eighty_columns_the_folder_the_agent_and_the_contents_are_left() -> None:
    trees = TREES[:2]
    titles = plain(heading(table(trees, NOW, 78, ""), 78)).split()
    assert {"worktree", "branch", "agent", "contains"} <= set(titles)
    assert set(plain(heading(table(trees, NOW, 36, ""), 36)).split()) >= {"worktree", "contains"}


def test_what_a_row_cuts_stands_below_it() -> None:
    one = TREES[1]
    shown = table(TREES[:2], NOW, 58, "")
    assert (one.branch or "") not in plain(row(one, shown, NOW, ""))
    below = "".join(plain(line) for line in detail(one, shown, NOW, 58, [], Keys(), "/r"))
    assert "~/.worktrees/durations" in below
    assert (one.branch or "-") in below
    assert "x removes it" in below


def test_a_repository_that_cannot_be_listed_says_why() -> None:
    broken = WorktreeStatus(
        directory="/r", repository="/r", made=False, unlisted="git does not answer"
    )
    said = plain(row(broken, table([broken], NOW, 98, ""), NOW, ""))
    assert "cannot list the worktrees: git does not answer" in said
    assert "not cockpit" not in said

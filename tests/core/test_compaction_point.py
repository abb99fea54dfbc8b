"""Where a CLI compacts: a formula until something was seen, and then what was seen last."""

from __future__ import annotations

import pytest

from cockpit.core.compaction_point import PointSource, SeenPoint, compaction_point

W = 200_000


@pytest.mark.parametrize(
    ("formula", "seen", "found"),
    [
        (167_000, SeenPoint(), (167_000, "formula")),
        (None, SeenPoint(), (None, None)),
        # A compaction past the formula confirms it, where nothing in between went through.
        (167_000, SeenPoint(150_000, 171_000), (167_000, "seen")),
        # 188k was reached, and another request went out: the CLI goes on to the limit.
        (167_000, SeenPoint(passed=188_000), (W, "seen")),
        (167_000, SeenPoint(188_000, 196_000), (196_000, "seen")),
        (167_000, SeenPoint(passed=150_000), (167_000, "formula")),
        # Earlier than the formula says: a server set it.
        (167_000, SeenPoint(compacted=90_000), (90_000, "seen")),
        # Switched off, as far as we can tell, and it compacted all the same.
        (None, SeenPoint(compacted=90_000), (90_000, "seen")),
    ],
)
def test_what_was_seen_counts_more_than_the_formula(
    formula: int | None, seen: SeenPoint, found: tuple[int | None, PointSource | None]
) -> None:
    assert compaction_point(formula, W, seen) == found


def test_the_newest_of_two_that_contradict_each_other_counts() -> None:
    compacted = SeenPoint().after_compaction(90_000)
    assert compacted.after_pass(120_000) == SeenPoint(120_000, None)
    assert SeenPoint(120_000).after_compaction(90_000) == SeenPoint(None, 90_000)
    assert SeenPoint(80_000).after_compaction(90_000) == SeenPoint(80_000, 90_000)
    assert SeenPoint(80_000, 90_000).after_pass(70_000) == SeenPoint(80_000, 90_000)
    assert SeenPoint(80_000, 90_000).after_compaction(95_000) == SeenPoint(80_000, 90_000)

"""Every kind of the table, in every context; thousands of lines without a secret stay.

Apart from `test_table.py`, whose tests have to take every branch (`tests/branches.py`): what half a
million texts take by chance proves nothing, and measuring them takes longer than reading them.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.redaction.contexts import design, held_out
from tests.redaction.measure import cases, let_through, touched

NEEDED = 0.97
"""Of all cases; each kind by itself has to be found in half of its contexts."""
PARTS = 6
"""Into how many tests the harmless lines are divided."""


@pytest.mark.parametrize("half", [design, held_out])
def test_secrets_go_in_every_context(half) -> None:  # type: ignore[no-untyped-def]
    every = list(cases(half))
    missed = let_through(iter(every))[1]
    assert len(missed) <= (1 - NEEDED) * len(every), sorted({case[:2] for case in missed})[:200]
    of_kind = Counter(case[0] for case in every)
    lost = Counter(case[0] for case in missed)
    assert {kind: count for kind, count in lost.items() if count > 0.5 * of_kind[kind]} == {}


@pytest.mark.parametrize(
    "part", [3, *(pytest.param(part, marks=pytest.mark.long) for part in (0, 1, 2, 4, 5))]
)
def test_harmless_lines_stay(part: int) -> None:
    count, changed = touched(part, PARTS)
    assert count > 10_000 / PARTS
    assert len(changed) <= count / 1000, [clean for _, _, clean in changed[:50]]
    assert [line for file, line, _ in changed if file in ("spoken", "made")] == []

"""A successor never gets a wider permission mode than its predecessor had."""

from __future__ import annotations

from itertools import product

import pytest

from cockpit.core.permission import WIDTH, successors_mode, width


@pytest.mark.parametrize(
    ("configured", "observed", "given"),
    [
        ("acceptEdits", None, "acceptEdits"),
        ("", None, ""),
        ("", "plan", "plan"),
        ("", "default", "default"),
        ("", "manual", "manual"),
        ("", "acceptEdits", ""),
        ("", "bypassPermissions", ""),
        ("", "a mode of tomorrow", ""),
        ("acceptEdits", "plan", "plan"),
        ("default", "bypassPermissions", "default"),
        ("acceptEdits", "acceptEdits", "acceptEdits"),
        ("acceptEdits", "a mode of tomorrow", "acceptEdits"),
    ],
)
def test_the_narrower_of_both(configured: str, observed: str | None, given: str) -> None:
    assert successors_mode(configured, observed) == given


def test_no_pair_of_modes_widens() -> None:
    for configured, observed in product((*WIDTH, "unheard of"), repeat=2):
        given = successors_mode(configured, observed)
        assert width(given) == min(width(configured), width(observed))

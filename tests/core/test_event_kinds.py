"""The table of events says what each kind means, and hooks hang on kinds that there are."""

from __future__ import annotations

from typing import get_args

from cockpit.core.event_kinds import MEANINGS, EventKind
from cockpit.core.event_topics import SAME_MEANING


def test_every_kind_has_a_meaning() -> None:
    assert set(MEANINGS) == set(get_args(EventKind))
    assert list(MEANINGS) == sorted(MEANINGS)


def test_hooks_hang_on_kinds_that_are_recorded() -> None:
    assert set(SAME_MEANING) <= set(MEANINGS)

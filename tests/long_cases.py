"""Cases of a parametrized test of which `make test` runs only some, because each takes seconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def cases(*every_time: Any, long: Iterable[Any]) -> list[Any]:
    """Return all the cases; the ones in `long` are only run by `make test-journeys`."""
    return [*every_time, *(pytest.param(*_values(case), marks=pytest.mark.long) for case in long)]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)

"""Cases of a parametrized test of which `make test` runs only some, because each takes seconds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest


def cases(*every_time: Any, long: Iterable[Any]) -> list[Any]:
    """Return all the cases; the ones in `long` are only run by `make test-journeys`."""
    return [*every_time, *(pytest.param(*_values(case), marks=pytest.mark.long) for case in long)]


def named_cases(every: Mapping[str, Any], *every_time: str) -> list[Any]:
    """Return all the cases with their names; only those named are run by `make test` too."""
    assert every.keys() >= set(every_time)
    return [
        pytest.param(*_values(case), id=name, marks=_marks(name, every_time))
        for name, case in every.items()
    ]


def _marks(name: str, every_time: Collection[str]) -> tuple[pytest.MarkDecorator, ...]:
    return () if name in every_time else (pytest.mark.long,)


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)

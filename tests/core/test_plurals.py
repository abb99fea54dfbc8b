from __future__ import annotations

import pytest

from cockpit.core.plurals import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 processes"), (1, "1 process"), (2, "2 processes")]
)
def test_one_is_not_several(number: int, said: str) -> None:
    assert counted(number, "process", "processes") == said


def test_most_nouns_take_an_s() -> None:
    assert [counted(number, "agent") for number in (0, 1, 12)] == [
        "0 agents", "1 agent", "12 agents",
    ]  # fmt: skip

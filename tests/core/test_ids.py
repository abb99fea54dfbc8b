"""What an agent may be called, and what is offered in place of what it may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.errors import BadUsage
from cockpit.core.ids import NAME_PATTERN, agent_name, suggested_name


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("My Agent", "my-agent"),
        ("ünï", "uni"),
        ("Straße 5", "strasse-5"),
        ("#(touch x)", "touch-x"),
        ("--", "agent"),
        ("日本", "agent"),
        ("x" * 40, "x" * 32),
    ],
)
def test_a_name_that_will_not_do_is_refused_with_one_that_would(written: str, offered: str) -> None:
    with pytest.raises(BadUsage) as refused:
        agent_name(written)

    assert refused.value.hint == f"Try: {offered}"
    assert agent_name(offered) == offered


@given(st.text())
def test_what_is_offered_is_always_a_name(written: str) -> None:
    assert NAME_PATTERN.fullmatch(suggested_name(written))

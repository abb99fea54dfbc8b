"""What one terminal asks of its screen, over the configuration of all."""

from __future__ import annotations

import pytest

from cockpit.config.schema import CockpitSettings
from cockpit.core.screen_overrides import NONE, WISHES, asks_for_another, wishes

DAY = {"COCKPIT_THEME": "day", "PATH": "/bin"}


def test_every_setting_of_the_screen_can_be_wished_for() -> None:
    assert set(WISHES) == {f"COCKPIT_{key.upper()}" for key in CockpitSettings.model_fields}


def test_one_that_asks_for_nothing_takes_what_is_there() -> None:
    assert wishes({"PATH": "/bin", "COCKPIT_THEME": ""}) == NONE
    assert not asks_for_another({}, wishes(DAY))
    assert not asks_for_another({}, "")


@pytest.mark.parametrize("drawn_for", [NONE, "", wishes({"COCKPIT_THEME": "night"})])
def test_one_that_asks_for_another_is_told_from_one_that_has_it(drawn_for: str) -> None:
    assert asks_for_another(DAY, drawn_for)
    assert not asks_for_another(DAY, wishes(DAY))


def test_a_wish_is_nothing_that_tmux_would_read() -> None:
    assert wishes({"COCKPIT_THEME": "#(id) ;\n\udcff" * 99}).isalnum()

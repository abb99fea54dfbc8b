"""`cockpit keys` tells every key there is."""

from __future__ import annotations

from cockpit.cli.keys import text
from cockpit.tui.keys.actions import ACTIONS
from tests.cli.key_tables import markdown, readme_table


def test_every_action_of_every_place_is_told() -> None:
    told, page = text(), markdown()
    assert [one.id for one in ACTIONS if f" {one.id} " not in told] == []
    assert [one.id for one in ACTIONS if f"| `{one.id}` |" not in page] == []


def test_a_key_of_the_pilots_own_takes_the_place_of_the_usual_one() -> None:
    assert "  F5 ? " in text({"help": "f5,question_mark"})
    assert "  F5 " not in text()


def test_the_first_day_needs_few() -> None:
    assert "| `a` | Approve, or answer a permission dialog or question. |" in readme_table()
    assert len(readme_table().splitlines()) < 20

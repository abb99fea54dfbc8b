"""`cockpit serve`, as far as it goes without a flight: what it refuses."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cockpit.cli.commands import cockpit
from cockpit.core.errors import BadUsage


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
def test_where_others_could_reach_it_it_is_refused_unless_told(address: str) -> None:
    done = CliRunner().invoke(cockpit, ["serve", "--bind", address])

    assert isinstance(done.exception, BadUsage)
    assert "other machines" in done.exception.title
    assert "ssh -L 8000:localhost:8000" in done.exception.hint
    assert "--let-others-in" in done.exception.hint


def test_its_help_says_who_may_come_in() -> None:
    said = CliRunner().invoke(cockpit, ["serve", "--help"]).output

    assert "127.0.0.1" in said
    assert "token" in said
    assert "--tab" not in said

"""The welcome fits the smallest terminal, and has the user's own keys."""

from __future__ import annotations

from rich.cells import cell_len

from cockpit.tui.present.span import plain
from cockpit.tui.present.welcome import welcome


def test_it_fits_beside_header_list_and_keys_in_sixty_by_fifteen() -> None:
    lines = [plain(line) for line in welcome({})]
    assert len(lines) <= 14 - 3
    assert max(map(cell_len, lines)) <= 60


def test_it_names_the_keys_as_they_are() -> None:
    assert any(plain(line).split()[:1] == ["n"] for line in welcome({}))
    assert any(plain(line).split()[:1] == ["Ctrl-N"] for line in welcome({"start": "ctrl+n,N"}))

"""Paths are short where they are shown, and stay commands where they are quoted."""

from __future__ import annotations

import pytest

from cockpit.tui.present.paths import short_paths


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Started api in /home/ana/shop", "Started api in ~/shop"),
        ("it is kept (/home/ana/shop/.worktrees/api)", "it is kept (~/shop/.worktrees/api)"),
        ("Started api in /home/ana; web is there too", "Started api in ~; web is there too"),
        ("Started api in /home/anabel/shop", "Started api in /home/anabel/shop"),
        ("Started api in /mnt/home/ana/shop", "Started api in /mnt/home/ana/shop"),
        ("Run: cd '/home/ana/my shop'", "Run: cd '/home/ana/my shop'"),
    ],
)  # fmt: skip
def test_paths_below_the_home_begin_with_a_tilde(text: str, shown: str) -> None:
    assert short_paths(text, "/home/ana") == shown


@pytest.mark.parametrize("home", ["", "/"])
def test_without_a_home_nothing_is_shortened(home: str) -> None:
    assert short_paths("Started api in /srv/shop", home) == "Started api in /srv/shop"

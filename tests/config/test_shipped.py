"""Themes and example are found in a checkout and in an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.config.shipped import example_file, shipped, themes_folder
from cockpit.core.errors import Failed


def test_beside_the_package_in_a_checkout() -> None:
    assert themes_folder().is_dir()
    assert example_file().is_file()


def test_inside_the_package_when_it_is_installed(tmp_path: Path) -> None:
    package = tmp_path / "site" / "cockpit"
    (package / "_shipped" / "themes").mkdir(parents=True)
    (package.parent / "themes").mkdir()
    assert shipped("themes", package) == package / "_shipped" / "themes"


def test_a_broken_installation_says_so(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"cockpit\.toml\.example is missing"):
        shipped("cockpit.toml.example", tmp_path / "cockpit")

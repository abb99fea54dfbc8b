"""The generated parts of the pages are what the code says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import cockpit
from cockpit.config.aliases import OLD_NAMES
from tests.config.generated_parts import with_generated_parts
from tests.config.renew import PAGES, renewed

GUIDE = Path(cockpit.__file__).parent / "docs" / "configuration.md"
MIGRATING = GUIDE.with_name("migrating.md")


def _settings() -> str:
    return GUIDE.read_text().partition("<!-- end settings -->")[0]


def test_the_guide_is_up_to_date() -> None:
    """Red? Run `python -m tests.config.renew`."""
    for guide in PAGES:
        page = guide.read_text()
        assert renewed(page) == page, guide.name


def test_it_names_every_founding_key() -> None:
    page = MIGRATING.read_text()
    assert all(f"| `{old.key}` |" in page for old in OLD_NAMES)


def test_every_default_in_it_is_toml() -> None:
    for value in re.findall(r"^\| `\w+` \| `(.+?)` \|", _settings(), re.MULTILINE):
        tomllib.loads(f"x = {value}")


def test_an_unknown_mark_is_an_error() -> None:
    with pytest.raises(KeyError):
        with_generated_parts("<!-- begin nothing -->\n<!-- end nothing -->")

"""The documentation site has every page and every command, laid out as on a forge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cockpit.cli.commands import COMMANDS, cockpit
from tests.packaging import pages, site


def menu(entries: list[dict[str, Any]]) -> list[str]:
    """Return the pages of the menu, from top to bottom."""
    found: list[str] = []
    for entry in entries:
        for below in entry.values():
            found += menu(below) if isinstance(below, list) else [below]
    return found


def test_every_page_is_in_the_menu_once() -> None:
    listed = menu(yaml.safe_load(site.CONFIG.read_text())["nav"])

    assert sorted(listed) == sorted(str(page) for page in [*pages.sources(), pages.COMMANDS])


def test_a_broken_link_is_an_error_on_the_site() -> None:
    validation = yaml.safe_load(site.CONFIG.read_text())["validation"]

    assert {level for part in validation.values() for level in part.values()} == {"warn"}
    assert {"not_found", "anchors", "absolute_links"} <= set(validation["links"])


def test_pages_keep_their_places(tmp_path: Path) -> None:
    pages.write(tmp_path)

    for page in pages.sources():
        assert (tmp_path / page).read_bytes() == (pages.CHECKOUT / page).read_bytes()
    assert (tmp_path / "cockpit.toml.example").exists()
    assert (tmp_path / "cockpit" / "docs" / "pictures" / "fleet.svg").exists()


def test_every_command_has_its_help() -> None:
    page = pages.commands_page()

    shown = [command for command in COMMANDS if not command.hidden]
    assert [c.name for c in shown if f"\n## cockpit {c.name}\n" not in page] == []
    assert "\n## cockpit config check\n" in page
    assert "Usage: cockpit config check [OPTIONS]" in page


def test_hidden_commands_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cockpit.commands["keys"], "hidden", True)

    assert "## cockpit keys\n" not in pages.commands_page()


@pytest.mark.parametrize(
    ("markdown", "article", "different"),
    [
        ("- one\n- two\n", "<ul><li>one</li><li>two</li></ul>", []),
        ("```\ncode\n```\n", "<div><pre><span></span><code>code</code></pre></div>", []),
        ("text\n- one\n", "<p>text - one</p>", ["li", "ul"]),
        ("text\n", "<ul><li>text</li></ul>", ["li", "ul"]),
        ("| a |\n| - |\n| b |\n", "<p>| a |</p>", ["table", "tr"]),
    ],
)
def test_a_page_that_looks_different_is_found(
    markdown: str, article: str, different: list[str]
) -> None:
    page = f"<nav><ul><li>menu</li></ul></nav><article>{article}</article><ul></ul>"

    found = site.differences(markdown, page)

    assert [line.split("<")[1].split(">")[0] for line in found] == different


def test_the_overview_is_the_first_page(tmp_path: Path) -> None:
    readme, guide = tmp_path / "README.md", tmp_path / "cockpit" / "docs" / "keys.md"

    assert site.built(readme, tmp_path, Path("out")) == Path("out/index.html")
    assert site.built(guide, tmp_path, Path("out")) == Path("out/cockpit/docs/keys.html")

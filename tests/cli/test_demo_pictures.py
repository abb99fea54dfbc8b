"""Pictures of every screen: taken, written, and those that are kept are of what they should be."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from cockpit.cli.demo_pictures import ALWAYS, Camera, nowhere, writable, write
from cockpit.cli.demo_shots import EMPTY, WITH_AGENTS
from cockpit.core.errors import BadUsage, Failed
from cockpit.tui.pictures.picture import Shot
from cockpit.tui.state.context import UIContext
from tests.tui.scene import scene

DOCS = Path(__file__).parents[2] / "cockpit" / "docs" / "pictures"
SHOTS = [*EMPTY, *WITH_AGENTS]
SRV = UIContext(attach=nowhere, edit=nowhere)


async def taken(*shots: Shot) -> tuple[dict[str, str], list[str]]:
    screen_text: list[str] = []
    camera = Camera(len(shots), screen_text.append)
    await camera.take(shots, scene(), SRV, "/srv/shop")
    return camera.pictures, screen_text


def said(svg: str) -> str:
    """The words of a picture, line by line and as they stand beside each other."""
    found = re.findall(r'y="([\d.]+)" textLength="[\d.]+">([^<]*)<', svg)
    lines: dict[str, list[str]] = {}
    for y, text in found:
        lines.setdefault(y, []).append(unescape(text).replace("\u00a0", " "))
    return "\n".join(" ".join(line) for line in lines.values())


async def test_each_shot_is_a_picture_and_is_told_of() -> None:
    review = Shot("review", ("Handoff",), ("d",), "api", (80, 20))
    fleet = Shot("fleet", ("needs you",), selected="api", size=(150, 40))
    pictures, screen_text = await taken(fleet, review)
    assert list(pictures) == ["fleet.svg", "review.svg"]
    assert screen_text == ["picture 1 of 2: fleet", "picture 2 of 2: review"]
    assert "needs you" in said(pictures["fleet.svg"])
    assert f"{ALWAYS}/.worktrees/api" in said(pictures["fleet.svg"])
    assert "/srv/shop" not in pictures["fleet.svg"]


async def test_what_is_not_of_what_it_should_be_is_no_picture() -> None:
    with pytest.raises(Failed, match="fleet does not show 'a unicorn'"):
        await taken(Shot("fleet", ("a unicorn",)))


def test_a_folder_that_cannot_be_is_told_at_once_and_one_for_nothing_goes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BadUsage, match="Cannot save the pictures"), writable(file / "in it"):
        pytest.fail("there is no such folder")
    with (
        pytest.raises(BadUsage, match="Cannot save the pictures"),
        writable(tmp_path / "a" / "b"),
    ):
        pytest.fail("there is no such folder")
    with pytest.raises(Failed), writable(tmp_path / "new"):
        raise Failed("the flight failed")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_pictures_take_the_place_of_older_ones_and_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "fleet.svg").write_text("old")
    (tmp_path / "notes.md").write_text("mine")
    with writable(tmp_path):
        write({"fleet.svg": "new", "help.svg": "h"}, tmp_path)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"fleet.svg": "new", "help.svg": "h", "notes.md": "mine"}


def test_every_picture_is_kept_and_no_other() -> None:
    """After a change of the screens: cockpit demo --pictures cockpit/docs/pictures"""
    assert {path.stem for path in DOCS.iterdir()} == {shot.name for shot in SHOTS}
    assert sum(path.stat().st_size for path in DOCS.iterdir()) < 600_000


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
def test_what_is_kept_is_of_what_it_should_be_and_of_no_one_machine(shot: Shot) -> None:
    svg = (DOCS / f"{shot.name}.svg").read_text(encoding="utf-8")
    text = said(svg)
    assert [words for words in shot.shows if words not in text] == []
    # A path from the root, but for what every machine has: the scratch folder under its one name.
    paths = re.findall(r"(?:^|\s)(/(?:tmp|home|root|work|Users|var)/\S+)", text)
    assert [path for path in paths if not path.startswith(ALWAYS)] == []
    assert "http" not in svg.replace("http://www.w3.org", "").replace(
        "https://www.textualize.io", ""
    )

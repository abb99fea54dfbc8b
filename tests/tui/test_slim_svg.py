"""A picture that is made smaller shows what it showed."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cockpit.tui.pictures.slim_svg import slim

TAKEN = Path(__file__).parent / "__snapshots__"
PICTURES = [
    TAKEN / "test_pictures" / "test_fleet[100x30].svg",
    TAKEN / "test_agent_pictures" / "test_section[context-100x30].svg",
]
BLOCK = re.compile("[▁▂▃▄▅▆▇█▉▊▋▌▍▎▏]")


def words(svg: str) -> list[str]:
    said = "".join(
        f" {one.text} " for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")
    )
    return BLOCK.sub(" ", said.replace("\u00a0", " ")).split()


@pytest.mark.parametrize("taken", PICTURES, ids=lambda path: path.name)
def test_every_word_is_there_and_no_block_is_left_to_a_font(taken: Path) -> None:
    whole = taken.read_text(encoding="utf-8")
    svg = slim(whole)
    assert words(svg) == words(whole)
    assert not BLOCK.search(svg)
    assert len(svg) < len(whole) / 2


def test_a_word_stands_where_it_stood() -> None:
    taken = (
        '<text class="terminal-12-r1" x="24.4" y="44.4" textLength="61"'
        ' clip-path="url(#terminal-12-line-1)">&#160;api&#160;</text>'
    )
    assert slim(taken) == '<text class="t-r1" x="36.6" y="44.4" textLength="36.6">api</text>'


def test_blocks_are_rectangles_of_their_share_of_the_cell() -> None:
    taken = '<text class="terminal-12-r1" x="0" y="18.5" textLength="36.6">██▄</text>'
    full, half = re.findall(r'y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', slim(taken))
    assert (full, half) == (("0", "24.4", "24.6"), ("12.2", "12.2", "12.4"))


def test_grounds_that_touch_are_one() -> None:
    ground = '<rect fill="#121212" x="{}" y="1.5" width="12.2" height="24.65" {}/>'
    crisp = 'shape-rendering="crispEdges"'
    svg = slim(ground.format("0", crisp) + ground.format("12.2", crisp))
    assert svg == '<rect fill="#121212" x="0" y="1.5" width="24.4" height="24.6"/>'

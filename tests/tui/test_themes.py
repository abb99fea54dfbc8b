"""Themes are files; a broken one costs a line on the screen and nothing else."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest
from textual.color import Color

from cockpit.client.memory import MemoryClient
from cockpit.tui import themes
from cockpit.tui.scene import scene
from cockpit.tui.themes import VARIABLES
from cockpit.tui.widgets.roles import ROLES, Palette

SHIPPED = Path(__file__).parents[2] / "themes"


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


@pytest.mark.parametrize("name", ["night", "day", "high-contrast", "colour-blind"])
def test_a_shipped_theme_sets_everything(name: str) -> None:
    found = themes.load([SHIPPED])
    assert found.troubles == ()
    assert set(VARIABLES) <= set(found.themes[name].variables)


@pytest.mark.parametrize("name", ["night", "day", "high-contrast", "colour-blind"])
def test_text_can_be_read_and_bands_told_apart(name: str) -> None:
    theme = themes.load([SHIPPED]).themes[name]
    background = Color.parse(theme.background or "")
    for colour in (theme.foreground, theme.variables["text-quiet"]):
        assert background.get_contrast_text(1).a
        assert contrast(background, Color.parse(colour or "")) >= 4.0
    bands = [theme.variables[f"bar-{band}"] for band in ("calm", "notice", "warn", "act", "force")]
    assert len(set(bands)) == 5
    track = Color.parse(theme.variables["bar-track"])
    assert all(contrast(track, Color.parse(band)) >= 1.6 for band in bands)


def contrast(one: Color, other: Color) -> float:
    """As the accessibility guidelines count it, 1 to 21."""

    def luminance(colour: Color) -> float:
        parts = [
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
            for part in colour.normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("primary = 'nonsense'", "primary = 'nonsense' is no colour"),
        ("dark = true", "has no 'primary' colour"),
        ("primary = '#fff'\nprimry = '#000'", "unknown key 'primry'"),
        ("primary = '#fff'\ndark = 'yes'", "'dark' must be true or false"),
        ("primary = '#fff'\nvariables = 3", "'variables' must be a table"),
        ("primary = '#fff'\n[variables]\nbar-calm = 7", "bar-calm = 7 is no colour"),
        ("primary = ", "Invalid value"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, text: str, trouble: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "good.toml").write_text("primary = '#123456'")
    found = themes.load([tmp_path, tmp_path / "nowhere"])
    assert set(found.themes) == {"good"}
    assert trouble in found.troubles[0]
    assert found.troubles[0].startswith("mine.toml: ")


def test_the_pilots_own_folder_wins(tmp_path: Path) -> None:
    (tmp_path / "night.toml").write_text("primary = '#123456'")
    assert themes.load([SHIPPED, tmp_path]).themes["night"].primary == "#123456"


def test_a_theme_that_is_not_there_is_said_and_the_default_used(fly: Fly) -> None:
    async def play() -> None:
        async with fly(scene(), theme="nihgt") as flight:
            assert flight.app.theme == "night"
            assert "There is no theme 'nihgt'" in flight.toasts()[0]
        async with fly(scene(), theme="dracula") as flight:
            assert flight.app.theme == "dracula"
            assert flight.toasts() == []

    asyncio.run(play())


def test_every_role_has_a_colour_in_every_theme(fly: Fly) -> None:
    async def play() -> None:
        async with fly(scene()) as flight:
            for name in ("night", "day", "textual-light", "nord"):
                flight.app.theme = name
                palette = Palette(flight.app.get_css_variables())
                assert all(palette.style(role).color for role in ROLES), name

    asyncio.run(play())

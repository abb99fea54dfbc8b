"""Themes are files; a broken one costs a line on the screen and nothing else."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol, get_args

import pytest
from textual.color import Color
from textual.design import ColorSystem
from textual.theme import BUILTIN_THEMES

from cockpit.tui.present.row import row_of
from cockpit.tui.present.states import look_of
from cockpit.tui.terminal import themes
from cockpit.tui.terminal.ascii import ascii_only
from cockpit.tui.terminal.contrast import ratio
from cockpit.tui.widgets.roles import GROUNDS, ROLES, Palette
from cockpit.wire.status import State
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene

SHIPPED = Path(__file__).parents[2] / "themes"


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


@pytest.mark.parametrize("name", ["night", "day", "high-contrast", "colour-blind"])
def test_a_shipped_theme_sets_everything(name: str) -> None:
    found = themes.load([SHIPPED])
    assert found.troubles == {}
    ours = themes.defaults(BUILTIN_THEMES["nord"].to_color_system().generate())
    assert ours.keys() <= found.themes[name].variables.keys()


TEXT = (
    "foreground", "text-quiet", "accent", "success", "warning", "error",
    "bar-notice", "bar-warn", "bar-act", "bar-force", "bar-unknown",
)  # fmt: skip
"""The colours that words are written in."""


@pytest.mark.parametrize("name", ["night", "day", "high-contrast", "colour-blind"])
def test_text_can_be_read_on_every_ground(name: str) -> None:
    theme = themes.load([SHIPPED]).themes[name]
    colours = {**vars(theme), **theme.variables}
    least = 7.0 if name == "high-contrast" else 4.5
    for ground in GROUNDS:
        for text in TEXT:
            found = ratio(Color.parse(colours[text]), Color.parse(colours[ground]))
            assert found >= least, (text, ground)


@pytest.mark.parametrize("name", ["night", "day", "high-contrast", "colour-blind"])
def test_bands_can_be_told_apart(name: str) -> None:
    theme = themes.load([SHIPPED]).themes[name]
    bands = [theme.variables[f"bar-{band}"] for band in ("calm", "notice", "warn", "act", "force")]
    assert len(set(bands)) == 5
    track = Color.parse(theme.variables["bar-track"])
    assert all(ratio(track, Color.parse(band)) >= 1.6 for band in bands)


@pytest.mark.parametrize("name", BUILTIN_THEMES)
def test_every_role_of_text_can_be_read_in_textuals_own_themes(name: str) -> None:
    colours = BUILTIN_THEMES[name].to_color_system().generate()
    variables = {**themes.defaults(colours), **colours}
    palette = Palette(variables)
    for role in ROLES:
        style = palette.style(role)
        if role.startswith(("bar-", "plot-", "rule", "frame")) or style.color is None:
            continue
        for ground in ("background", "surface", "row-selected", "row-needs"):
            if "ansi" in variables[ground] or variables[ground] == "transparent":
                continue
            found = ratio(Color.from_rich_color(style.color), Color.parse(variables[ground]))
            assert found >= 4.4, (role, ground)


def test_every_attribute_of_a_role_is_drawn() -> None:
    palette = Palette(BUILTIN_THEMES["textual-dark"].to_color_system().generate())
    for role, (_, _, attributes) in ROLES.items():
        for attribute in attributes.split():
            assert getattr(palette.style(role), attribute), (role, attribute)


def test_each_state_and_each_band_has_a_sign_that_is_no_colour() -> None:
    """For those who see no colours, or not these."""
    looks = [look_of(agent("a", state=state)) for state in get_args(State)]
    assert len({look.word for look in looks}) == len(looks)
    assert len({look.glyph for look in looks}) == len(looks)
    assert all(ascii_only(look.glyph) != "?" or look.glyph == "?" for look in looks)
    now = datetime.now(UTC)
    rows = [
        row_of(agent("a", tokens=tokens), heard_seconds=0, now=now)
        for tokens in (10_000, 104_000, 127_000, 142_000, 149_000)
    ]
    assert len({row.band for row in rows}) == 5


def test_the_safe_theme_tells_bands_apart_by_lightness_too() -> None:
    theme = themes.load([SHIPPED]).themes["colour-blind"]
    bands = [
        Color.parse(theme.variables[f"bar-{band}"])
        for band in ("calm", "notice", "warn", "act", "force")
    ]
    for kind in VISIONS:
        seen = [_as_seen(band, kind) for band in bands]
        apart = [_apart(one, other) for one, other in combinations(seen, 2)]
        assert min(apart) >= 20, kind


VISIONS = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""Machado, Oliveira and Fernandes (2009), full severity: how linear light is seen without one of
the three kinds of cones."""


def _as_seen(colour: Color, kind: str) -> tuple[float, float, float]:
    """Red, green and blue, 0 to 255, as an eye without one kind of cones sees it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in colour.normalized]  # fmt: skip
    seen = [
        min(1.0, max(0.0, sum(share * part for share, part in zip(row, linear, strict=True))))
        for row in VISIONS[kind]
    ]
    red, green, blue = (
        255 * (part * 12.92 if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055)
        for part in seen
    )
    return red, green, blue


def _apart(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The distance of two colours, weighted as eyes do."""
    red, green, blue = ((a - b) ** 2 for a, b in zip(one, other, strict=True))
    return float((2 * red + 4 * green + 3 * blue) ** 0.5)


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("primary = 'nonsense'", "primary = 'nonsense' is not a colour"),
        ("dark = true", "has no 'primary' colour"),
        ("primary = '#fff'\nprimry = '#000'", "unknown key 'primry'"),
        ("primary = '#fff'\ndark = 'yes'", "'dark' must be true or false"),
        ("primary = '#fff'\nvariables = 3", "'variables' must be a table"),
        ("primary = '#fff'\n[variables]\nbar-calm = 7", "bar-calm = 7 is not a colour"),
        ("primary = ", "Invalid value"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, text: str, trouble: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "good.toml").write_text("primary = '#123456'")
    found = themes.load([tmp_path, tmp_path / "nowhere"])
    assert set(found.themes) == {"good"}
    assert trouble in found.troubles["mine"]
    assert found.troubles["mine"].startswith("mine.toml: ")


def test_the_pilots_own_folder_wins(tmp_path: Path) -> None:
    (tmp_path / "night.toml").write_text("primary = '#123456'")
    assert themes.load([SHIPPED, tmp_path]).themes["night"].primary == "#123456"


def test_a_broken_file_is_told_of_only_to_who_asked_for_its_theme(tmp_path: Path) -> None:
    for name in ("bad", "worse", "night"):
        (tmp_path / f"{name}.toml").write_text("primary = 7")
    found = themes.load([SHIPPED, tmp_path])
    assert themes.chosen("day", found) == ("day", None)
    used, told = themes.chosen("worse", found)
    assert used == "night"
    assert told is not None
    assert told.startswith("worse.toml: primary = 7 is not a colour. Using night.")
    assert "bad" not in told
    used, told = themes.chosen("night", found)
    assert used == "night"
    assert told is not None
    assert told.startswith("night.toml: ")


async def test_a_theme_that_is_not_there_is_said_and_the_default_used(fly: Fly) -> None:
    async with fly(scene(), theme="nihgt") as flight:
        assert flight.app.theme == "night"
        assert "Unknown theme 'nihgt'" in flight.toasts()[0]
    async with fly(scene(), theme="dracula") as flight:
        assert flight.app.theme == "dracula"
        assert flight.toasts() == []


async def test_every_role_has_a_colour_in_every_theme(fly: Fly) -> None:
    async with fly(scene()) as flight:
        for name in ("night", "day", "textual-light", "nord"):
            flight.app.theme = name
            palette = Palette(flight.app.get_css_variables())
            assert all(palette.style(role).color for role in ROLES), name


async def test_the_colours_of_a_theme_are_generated_once(
    fly: Fly, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each widget asks for them: to generate them every time was a hundredth of a cold start."""
    generate, generated = ColorSystem.generate, list[str]()

    def count(system: ColorSystem) -> dict[str, str]:
        colours = generate(system)
        generated.append(colours["primary"])
        return colours

    monkeypatch.setattr(ColorSystem, "generate", count)
    async with fly(scene(), theme="night") as flight:
        flight.app.theme = "day"
        await flight.pilot.pause()
        assert len(generated) == 2 * len(set(generated)), "once for itself, once for our defaults"
        assert flight.app.get_css_variables()["primary"] == generated[-1]

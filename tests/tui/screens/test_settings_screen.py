"""Settings: what they would mean is shown, what is wrong is said, and where they go is named."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.core.errors import BadConfig
from cockpit.tui.screens.settings.screen import SettingsScreen
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.threshold_field import stepped
from cockpit.wire.status import Status
from cockpit.wire.verbs import Load
from tests.client.memory import MemoryClient
from tests.repositories import lay_repository
from tests.tui import scene
from tests.tui.scene import agent

TEXT = """\
# ours
[defaults.context]
act = "70%"   # late

[[agents]]
name = "api"
[[agents]]
name = "careful"
[agents.context]
act = "50%"
"""


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


@pytest.fixture
def shop(own_home: Path) -> Path:
    """In a folder whose path has the same length in every run, as the form shows it."""
    folder = own_home / "in" / "shop"
    folder.parent.mkdir()
    lay_repository(folder)
    file = folder / "cockpit.toml"
    file.write_text(TEXT)
    file.chmod(0o600)
    return folder


def reader(shop: Path) -> Callable[[], Files]:
    places = Places.of({"COCKPIT_HOME": str(shop.parent / "home")})
    return partial(Files.read, places, None, shop, {})


async def says(flight: Any, *texts: str) -> None:
    """Wait until the form says all of it, however its lines are broken."""
    for text in texts:
        await flight.until(
            lambda text=text: text in str(flight.app.screen.status_line.content), text
        )


def flying() -> MemoryClient:
    names = {"api": 130_000, "careful": 90_000, "other": 10_000}
    return MemoryClient(Status(agents=[agent(name, tokens=held) for name, held in names.items()]))


async def test_the_keys_of_the_form_stay_in_sight_below_a_long_error(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(80, 23), files=reader(shop)) as flight:
        await flight.press("comma")
        await flight.reads("Settings", "70%", "No changes yet")
        await flight.press(*"nonsense")
        await says(flight, "is not a threshold")
        await flight.reads("Esc back")


async def test_marks_are_tried_on_the_agents_and_written_where_it_says(
    fly: Fly, shop: Path
) -> None:
    file = shop / "cockpit.toml"

    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma")
        await flight.reads("Settings", "70%", "No changes yet", "another config")
        await flight.press("tab", "tab", "tab", "tab", *"62%")
        await flight.reads("warn → act", "Ctrl-S saves", "shop/cockpit.toml")
        await flight.reads("not trusted yet")
        assert file.read_text() == TEXT
        await flight.press("backspace")
        await flight.reads("has no unit")
        await flight.press("ctrl+s")
        assert file.read_text() == TEXT
        await flight.press("%", "ctrl+s")
        wanted = Load(config=str(file))
        await flight.until(lambda: flight.asked == [wanted], "the reload")
    assert file.read_text() == TEXT.replace('act = "70%"   # late', 'act = "62%"   # late')


async def test_marks_out_of_order_are_refused_in_words(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"90%")
        await says(flight, "notice is higher than act", "Lower notice, or remove one of the two")


async def test_a_mark_that_will_be_lowered_is_said_to_be(fly: Fly, shop: Path) -> None:
    (shop / "cockpit.toml").write_text('[[agents]]\nname = "api"\n')

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"75%")
        await says(flight, "notice begins at 120k of 200k: lowered to warn", "Ctrl-S saves")


async def test_a_threshold_that_a_compaction_lowers_is_explained(fly: Fly, shop: Path) -> None:
    (shop / "cockpit.toml").write_text('[[agents]]\nname = "api"\n[[agents]]\nname = "big"\n')
    context = scene.context(10_000, window=1_000_000, compacts_at=967_000)
    big = scene.agent("big").model_copy(update={"context": context})
    client = MemoryClient(Status(agents=[agent("api", tokens=10_000)]))

    async with fly(client, size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *["tab"] * 4, *"79%")
        await says(flight, "act begins at 147k of 200k: 20k before compaction at 167k. Ctrl-S")
        await flight.press(*["backspace"] * 3, *"90%")
        await says(flight, "act begins at 147k of 200k: 20k before compaction at 167k. Ctrl-S")
        client.put(big)
        await flight.until(lambda: "big" in flight.app.screen_stack[0].model.agents, "the agent")
        await flight.press(*["backspace"] * 3, *"79%")
        await says(
            flight,
            "act begins at 147k of 200k for api: 20k before compaction at 167k.",
            "act begins at 300k of 1M for big: cap 300k.",
        )


async def test_a_mark_below_the_one_before_it_is_said_with_what_follows(
    fly: Fly, shop: Path
) -> None:
    (shop / "cockpit.toml").write_text('[[agents]]\nname = "api"\n')

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *["tab"] * 4, *"45%")
        await says(
            flight,
            "act is below notice and warn: notice and warn begin at 90k of 200k too, "
            "so a handoff comes without a warning.",
        )


async def test_left_and_right_change_a_mark_until_something_is_typed(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma")
        await flight.reads("Settings", "70%")
        act = flight.app.screen.settings["defaults", "context", "act"].field
        await flight.press("down", "down", "right", "right", "left", "left", "left")
        await flight.until(lambda: act.value == "69%", act.value)
        await says(flight, "Ctrl-S saves", "act")
        await flight.press("backspace", "left", "5")
        assert act.value == "659"


@pytest.mark.parametrize(
    ("text", "step", "then"),
    [("70%", 1, "71%"), ("100%", 1, "100%"), ("1%", -1, "1%"), ("300k", -1, "295k"),
     ("1.5M", 1, "1.6M"), ("30% left", -1, "29% left"), ("130000", 1, "135000"),
     ("auto", 1, None), ("", 1, None)],
)  # fmt: skip
def test_a_step_keeps_the_unit_and_stays_a_threshold(
    text: str, step: int, then: str | None
) -> None:
    assert stepped(text, step) == then


async def test_a_theme_is_seen_at_once_and_taken_back(fly: Fly, shop: Path) -> None:
    own = shop.parent / "home" / "cockpit.toml"

    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma", *["shift+tab"] * 5, "right")
        await flight.until(lambda: flight.app.theme != "night", "another theme")
        await flight.reads("home/cockpit.toml", "(a new")
        await flight.press("ctrl+g")
        assert flight.app.theme == "night"
        await flight.press("comma", *["shift+tab"] * 5, "left", "ctrl+s")
        await flight.until(own.exists, "the file")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
        assert own.read_text() == f'[cockpit]\ntheme = "{flight.app.theme}"\n'


async def test_a_file_that_is_not_right_is_said_and_left_alone(fly: Fly, shop: Path) -> None:
    (shop / "cockpit.toml").write_text("nonsense = 1\n")

    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma")
        await flight.reads("unknown key", "Fix the file,")
        await flight.press(*"60%", "ctrl+s", "ctrl+g")
        assert flight.asked == []
    assert (shop / "cockpit.toml").read_text() == "nonsense = 1\n"


async def test_a_supervisor_that_refuses_the_file_goes_on_and_it_is_said(
    fly: Fly, shop: Path
) -> None:
    client = flying()
    client.refuse(Load, BadConfig("there is an agent api already"))
    async with fly(client, size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"40%", "ctrl+s")
        await flight.until(lambda: "eep" in str(flight.toasts()), "why")


async def test_keys_are_changed_with_their_clashes_said_and_count_at_once(
    fly: Fly, shop: Path
) -> None:
    own = shop.parent / "home" / "cockpit.toml"

    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma", "ctrl+k")
        await flight.reads("Keys", "approve-straight")
        await flight.press(*"sort", "tab", *"x")
        await flight.reads('x is already taken: "stop" uses the key too')
        await flight.press("ctrl+s")
        assert not own.exists()
        await flight.press("backspace", *"ctrl+t, T", "ctrl+s")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
        assert own.read_text() == '[keys]\nsort = "ctrl+t, T"\n'
        await flight.press("T")
        await flight.reads("fullest first")
        await flight.press("S")
        assert flight.fleet.fleet.sort == "context"
        await flight.press("comma", "ctrl+k", *"sort", "tab", "minus", "ctrl+s")
        await flight.until(lambda: "sort" not in own.read_text(), "its own key again")


async def test_a_mark_goes_back_to_its_default_and_its_words_stay(fly: Fly, shop: Path) -> None:
    file = shop / "cockpit.toml"

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", "ctrl+r")
        await says(flight, "notice is the default; no file sets it")
        await flight.press("tab", "tab", "tab", "tab", "ctrl+r")
        await says(
            flight, "cockpit.toml (not trusted", "removes `act` from line 3, leaving 70%, the"
        )
        await flight.press("ctrl+r")
        await says(flight, "No changes yet")
        await flight.press(*"66%")
        await says(flight, "changes `act` on line 3")
        await flight.press("ctrl+r")
        await says(flight, "removes `act` from line 3")
        await flight.reads("→ 70%")
        assert file.read_text() == TEXT
        await flight.press("ctrl+s")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
    assert file.read_text() == TEXT.replace('act = "70%"   # late', "# late")


async def test_a_lower_file_counts_where_the_upper_one_says_nothing_any_more(
    fly: Fly, shop: Path
) -> None:
    own = shop.parent / "home" / "cockpit.toml"
    own.parent.mkdir()
    own.write_text('[defaults]\nmode = "observe"\n[defaults.context]\nact = "66%"\n')
    own.chmod(0o600)

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", "tab", "tab", "tab", "tab", "ctrl+r")
        await says(flight, "leaving 66%, from", "home/cockpit.toml:4)")
        await flight.press("ctrl+r", *["tab"] * 5)
        await flight.reads("observe", "only watch")
        await flight.press("ctrl+r")
        await says(flight, "removes `mode` from line 2")
        await flight.reads("ask me before a handoff")


async def test_every_choice_is_written_where_it_belongs(fly: Fly, shop: Path) -> None:
    own = shop.parent / "home" / "cockpit.toml"

    async with fly(flying(), size=(140, 34), files=reader(shop)) as flight:
        await flight.press("comma", "tab", *"150k", *["tab"] * 7, *"300k")
        await flight.press("tab", "right", "tab", "tab")
        await flight.press(*["right", "tab"] * 3, "right")
        await says(flight, "mode applies to agents started from now on")
        await flight.press("ctrl+s")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
    assert own.read_text() == (
        '[cockpit]\nrefresh = "low"\nglyphs = "unicode"\ncolours = "all"\n\n'
        '[notifications]\nterminal = "osc9"\n'
    )
    text = (shop / "cockpit.toml").read_text()
    assert all(line in text for line in ('notice = "150k"', 'window = "300k"'))
    assert 'mode = "auto"' in text


async def test_a_file_that_changed_meanwhile_is_read_anew_and_what_is_typed_stays(
    fly: Fly, shop: Path
) -> None:
    file = shop / "cockpit.toml"

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"40%")
        await says(flight, "adds `notice`")
        file.write_text("# somebody's\n" + TEXT)
        await flight.press("ctrl+s")
        await says(flight, "has changed on disk: nothing was saved")
        assert file.read_text() == "# somebody's\n" + TEXT
        file.write_text("broken = \n")
        await flight.press("ctrl+s")
        await says(flight, "cockpit.toml:1: not valid TOML")
        file.write_text("# mended\n" + TEXT)
        await flight.press("ctrl+s")
        await says(flight, "on disk: nothing was saved")
        await flight.press("ctrl+s")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
    assert file.read_text().startswith("# mended\n")
    assert 'notice = "40%"' in file.read_text()


async def test_a_file_that_is_mended_is_read_without_opening_the_form_again(
    fly: Fly, shop: Path
) -> None:
    file = shop / "cockpit.toml"
    file.write_text("nonsense = 1\n")

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"40%")
        await says(flight, "cockpit.toml:1: nonsense: unknown key", "press Ctrl-S to reload")
        file.write_text(TEXT)
        await flight.press("ctrl+s")
        await says(flight, "adds `notice`")


async def test_a_read_only_file_is_said_to_be_before_anything_is_written(
    fly: Fly, shop: Path
) -> None:
    (shop / "cockpit.toml").chmod(0o400)

    async with fly(flying(), size=(140, 30), files=reader(shop)) as flight:
        await flight.press("comma", *"40%")
        await says(flight, "is read-only", "chmod u+w")


async def test_without_files_the_key_says_so(fly: Fly) -> None:
    async with fly(flying()) as flight:
        await flight.press("comma")
        await flight.until(
            lambda: "edit the settings in the files on that host" in str(flight.toasts()), "why not"
        )


async def test_the_fields_show_their_values_in_the_first_frame(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        screen = SettingsScreen(flight.app.model, flight.client, reader(shop), "", lambda: None)
        await flight.app.push_screen(screen)
        # No pause: what is drawn first.
        placeholders = [field.placeholder for field in screen.fields() if isinstance(field, Field)]
        assert all(placeholders)
        assert "70%" in placeholders


async def test_the_arrows_move_up_and_down_between_the_rows(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(100, 30), files=reader(shop)) as flight:
        await flight.press("comma", "down")
        await flight.until(lambda: flight.app.focused.id == "mark-warn", "the row below")
        await flight.press("tab", "down", "down")
        assert flight.app.focused.id == "cap-force"
        await flight.press("up", "up", "up", "up")
        assert flight.app.focused.id in {"glyphs", "colours", "terminal"}
        await flight.reads("Esc back", "↑↓ move")


async def test_themes_are_a_list_that_is_previewed_and_taken_or_left(fly: Fly, shop: Path) -> None:
    async with fly(flying(), size=(100, 40), files=reader(shop)) as flight:
        await flight.press("comma", *["shift+tab"] * 5)
        assert flight.app.focused.id == "theme"
        await flight.reads("Enter lists all")
        await flight.press("enter")
        await flight.reads("colour-blind", "day", "gruvbox", "high-contrast")
        await flight.press("down")
        await flight.until(lambda: flight.app.theme != "night", "a preview")
        await flight.press("escape")
        await flight.until(lambda: flight.app.theme == "night", "the theme before")
        await flight.press("enter", "down", "enter")
        await flight.reads("Ctrl-S saves")
        theme = flight.app.theme
        assert theme != "night"
        await flight.press("ctrl+s")
        own = shop.parent / "home" / "cockpit.toml"
        await flight.until(own.exists, "the file")
        assert own.read_text() == f'[cockpit]\ntheme = "{theme}"\n'

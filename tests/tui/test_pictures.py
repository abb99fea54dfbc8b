"""How the screens look: what only a picture can prove. Behaviour and words are tested elsewhere.

Each screen is pictured once, at 100x30. A second size is there only where the layout is another:
60x15, where parts fold, scroll or are left out, and 200x60, where columns or panes are added. The
fleet, which people look at all day, has every size. `test_sizes.py` reads the others. Each theme
that turns light and dark or contrast around has one picture; their colours are compared by
`test_themes.py` and `test_contrast.py`. Hostile words are in one picture, for what cells they take;
that they are harmless everywhere is proven by `test_hostile.py` and `test_sizes.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.tui.app import CockpitApp
from cockpit.tui.screens import lazy
from cockpit.tui.state.context import UIContext
from cockpit.tui.state.pace import Pace
from cockpit.wire.status import HandoffStatus, Needs, Status
from cockpit.wire.worktrees import Obstacle, WorktreeStatus
from tests.client.memory import MemoryClient
from tests.long_cases import named_cases
from tests.tui.scene import agent, context, scene
from tests.tui.scene_elsewhere import SESSIONS
from tests.tui.scene_sessions import course

THEMES = Path(__file__).parents[2] / "themes"
SMALL, USUAL, LARGE = (60, 15), (100, 30), (200, 60)
EVERY_SIZE = {"100x30": USUAL, "60x15": SMALL, "200x60": LARGE, "40x10": (40, 10)}

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def one_time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day are the user's own; here the user lives at Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.delenv("TZ")
    time.tzset()


async def nowhere(_name: object, _line: int = 1) -> None:
    """Nobody attaches from a picture."""


files = partial(
    Files.read, Places.of({"COCKPIT_HOME": "/nowhere/cockpit"}), None, Path("/nowhere"), {}
)
"""Settings that nobody changed."""


def app(client: MemoryClient, theme: str = "night", selected: str | None = "api") -> CockpitApp:
    ui = UIContext(attach=nowhere, edit=nowhere, pace=Pace(0.0, 0.0), files=files)
    made = CockpitApp(client, ui, theme=theme, theme_folders=[THEMES])
    made.model.select(selected)
    return made


async def settled(pilot: Pilot[Any]) -> None:
    """The supervisor has answered, the pane is drawn, and what is imported later is there."""
    lazy.load()
    model = pilot.app.model  # type: ignore[attr-defined]
    deadline = time.monotonic() + 60
    while not model.connection.live and time.monotonic() < deadline:
        await pilot.pause(0.02)
    await at_rest(pilot)


async def at_rest(pilot: Pilot[Any]) -> None:
    """Until several looks in a row find the same picture; a busy machine draws late."""
    deadline, last, same = time.monotonic() + 60, None, 0
    display, frames, looked_at = pilot.app._display, 0, -1

    def counting(screen: Screen[Any], renderable: Any) -> None:
        nonlocal frames
        frames += 1
        display(screen, renderable)

    pilot.app._display = counting  # type: ignore[method-assign]
    try:
        while same < 4 and time.monotonic() < deadline:
            await pilot.pause(0.05)
            if frames == looked_at:
                same += 1
                continue
            # Cells and their styles are all that a picture shows, and cost a quarter of one.
            screens = (pilot.app.screen, *pilot.app._background_screens)
            now = [screen._compositor.render_strips() for screen in screens]
            same = same + 1 if now == last else 0
            last, looked_at = now, frames
    finally:
        del pilot.app._display


def pressing(*keys: str) -> Callable[[Pilot[None]], object]:
    async def press(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        await at_rest(pilot)

    return press


@pytest.mark.parametrize("size", EVERY_SIZE.values(), ids=EVERY_SIZE)
def test_fleet(snap_compare: Compare, size: tuple[int, int]) -> None:
    """The first screen: which columns and panes are left at each size."""
    client = scene()
    client.chart(course())
    assert snap_compare(app(client), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("theme", ["day", "high-contrast"])
def test_fleet_in_each_theme(snap_compare: Compare, theme: str) -> None:
    """A light theme, and one with frames in place of shades."""
    assert snap_compare(app(scene(), theme), terminal_size=USUAL, run_before=settled)


def bands() -> MemoryClient:
    """An agent in each band, and with each confidence."""
    agents = [
        agent("calm", tokens=61_000),
        agent("notice", tokens=104_000),
        agent("warn", tokens=127_000),
        agent("act", tokens=142_000),
        agent("force", tokens=149_000),
        agent("beyond", tokens=204_000),
        agent("unknown", tokens=None),
        agent("derived", context=context(80_000, confidence="derived")),
        agent("assumed", context=context(80_000, confidence="assumed")),
        agent("stale", context=context(80_000, age_seconds=400.0)),
        agent("large", context=context(260_000, window=1_000_000, compacts_at=967_000)),
    ]
    return MemoryClient(Status(agents=agents))


def test_each_band_and_each_confidence(snap_compare: Compare) -> None:
    """The colours and textures of bars beside each other."""
    shown = app(bands(), selected="act")
    assert snap_compare(shown, terminal_size=USUAL, run_before=settled)


SCREENS = {
    "review": ("d",),
    "help": ("question_mark",),
    "send": ("s", *"Now the changelog"),
    "start": ("n", *"Big"),
    "settings": ("comma", *["tab"] * 4, *"55%"),
    "keys": ("comma", "ctrl+k", *"sort", "tab", "x"),
    "stop": ("x",),
    "filter": ("slash", *"pytest"),
    "toast": ("A",),
    "worktrees": ("W",),
    "removal": ("W", "x"),
}
TREES = [
    WorktreeStatus(
        directory="/srv/shop/.worktrees/api", repository="/srv/shop", branch="agent/api/shop-14",
        agent="api", state="needs_you", made=True, changed=0, untracked=0, alone=0,
        size=48_300_000,
    ),
    WorktreeStatus(
        directory="/srv/shop/.worktrees/search", repository="/srv/shop", branch="agent/search",
        agent="search", state="handing_off", made=True, changed=2, untracked=1, alone=3, behind=4,
        obstacles=[
            Obstacle(
                why="search works in it", next="Stop it: cockpit stop search", agent="search"
            )
        ],
        size=2_140_000_000, size_partial=True,
    ),
    WorktreeStatus(directory="/srv/by-hand", repository="/srv/shop", made=False, missing=True),
]  # fmt: skip
HOSTILE = "[/b] \x1b]52;c;eA==\x07漢字 \u202eevil\u2069 [@click=app.quit]x[/] 👩‍👩‍👧"


FOLDED = ("review", "start", "settings", "worktrees")
"""Forms and lists that scroll, or leave out a part, at 60x15. A form lies over a part of 200x60."""
PICTURED = {
    **{f"{name}-100x30": (keys, USUAL) for name, keys in SCREENS.items()},
    **{f"{name}-60x15": (SCREENS[name], SMALL) for name in FOLDED},
    "start-200x60": (SCREENS["start"], LARGE),
}
EVERY_TIME = (
    "review-100x30", "help-100x30", "start-100x30", "settings-100x30", "stop-100x30",
    "removal-100x30", "worktrees-60x15",
)  # fmt: skip


def treed() -> MemoryClient:
    """The fleet, with worktrees."""
    client = scene()
    client.trees = TREES
    return client


@pytest.mark.parametrize(("keys", "size"), named_cases(PICTURED, *EVERY_TIME))
def test_screen(snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    """Each screen and dialog over the fleet."""
    assert snap_compare(app(treed()), terminal_size=size, run_before=pressing(*keys))


def elsewhere() -> MemoryClient:
    """The fleet, with sessions that cockpit did not start; without times, which grow."""
    client = scene()
    client.others = [one.model_copy(update={"started_at": None}) for one in SESSIONS]
    return client


ELSEWHERE = {
    "list-100x30": (("E",), USUAL),
    "list-60x15": (("E",), SMALL),
    "list-200x60": (("E",), LARGE),
    "details-60x15": (("E", "enter"), SMALL),
    "refused-80x24": (("E", "G"), (80, 24)),
    "question-100x30": (("E", "a"), USUAL),
    "group-100x30": (("G",), USUAL),
}


@pytest.mark.parametrize(("keys", "size"), named_cases(ELSEWHERE, "list-100x30"))
def test_elsewhere(snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    """The folded group, the list with the details beside or below it, and the question."""
    assert snap_compare(app(elsewhere()), terminal_size=size, run_before=pressing(*keys))


def hostile_places() -> MemoryClient:
    """Worktrees and a document of hostile words."""
    client = scene()
    client.trees = [
        one.model_copy(update={"directory": f"/srv/{HOSTILE}", "branch": HOSTILE, "agent": HOSTILE})
        for one in TREES
    ]
    client.lay(
        "h-api", f"---\nagent: {HOSTILE}\n---\n## Goal\n\n{HOSTILE}\n\n```\n{HOSTILE}\n```\n"
    )
    return client


@pytest.mark.long
def test_a_place_whose_supervisor_went_away(snap_compare: Compare) -> None:
    """What was read stays, greyed, below a header that says so."""
    client = treed()

    async def lose(pilot: Pilot[None]) -> None:
        await pressing("W")(pilot)  # type: ignore[misc]
        client.disconnect()
        await at_rest(pilot)

    assert snap_compare(app(client), terminal_size=USUAL, run_before=lose)


def recent() -> MemoryClient:
    """An agent with two events."""
    client = MemoryClient(Status(agents=[agent("api")]))
    client.happen("agent.started", "api was started", "api", at="2026-11-21T20:15:00Z")
    client.happen("band.crossed", "api crossed its act point", "api", at="2026-11-21T20:17:00Z")
    return client


def test_events(snap_compare: Compare) -> None:
    """Times, names and kinds in their columns."""
    assert snap_compare(app(recent()), terminal_size=USUAL, run_before=pressing("e"))


def question() -> MemoryClient:
    """The fleet, with one that asks for a handoff."""
    client = scene()
    asked = HandoffStatus(id="h-api", reason="threshold", phase="asked", since="", document="/x.md")
    client.change(
        "api", handoff=asked, needs=Needs(kind="handoff", detail="142k of 200k. Hand off?")
    )
    return client


def test_the_question_before_a_handoff(snap_compare: Compare) -> None:
    """The review's screen before there is a document."""
    assert snap_compare(app(question()), terminal_size=USUAL, run_before=pressing("d"))


@pytest.mark.parametrize("size", named_cases({"60x15": (SMALL,), "100x30": (USUAL,)}, "100x30"))
def test_nobody(snap_compare: Compare, size: tuple[int, int]) -> None:
    """The welcome, which is laid out anew where it has no room."""
    empty = app(MemoryClient(), selected=None)
    assert snap_compare(empty, terminal_size=size, run_before=settled)


def crowd() -> MemoryClient:
    """A hundred agents."""
    agents = [agent(f"agent-{number}", tokens=1_000 * number) for number in range(100)]
    return MemoryClient(Status(agents=agents))


@pytest.mark.long
def test_a_hundred_agents(snap_compare: Compare) -> None:
    """A list that scrolls, with the selected one in sight."""
    shown = app(crowd(), selected="agent-60")
    assert snap_compare(shown, terminal_size=USUAL, run_before=pressing("j"))


def test_no_supervisor(snap_compare: Compare) -> None:
    """Rows and pane of before, greyed."""
    client = scene()

    async def lose(pilot: Pilot[None]) -> None:
        await settled(pilot)
        client.disconnect()
        await at_rest(pilot)

    assert snap_compare(app(client), terminal_size=USUAL, run_before=lose)


def hostile_fleet() -> MemoryClient:
    """An agent and a host of hostile words."""
    hostile = agent("api", activity=HOSTILE, branch=HOSTILE, model=HOSTILE, note=HOSTILE)
    client = MemoryClient(Status(host=HOSTILE, agents=[hostile]))
    client.show("api", [HOSTILE, f"\x1b[41m{HOSTILE}", "\x1b[2Jcleared?"])
    return client


def test_hostile_names_and_panes(snap_compare: Compare) -> None:
    """Wide and joined characters take the cells that the layout gives them."""
    assert snap_compare(app(hostile_fleet()), terminal_size=USUAL, run_before=settled)

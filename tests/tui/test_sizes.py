"""Screens at sizes that have no picture: what must be read there is there, and nothing else is.

A picture shows how a screen looks where its layout is another; see `test_pictures.py`. At other
sizes the same widgets have more or less room, and these words say that they use it. Hostile words
are read at every size: as they were written, and without a byte that a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from cockpit.tui.screens.history.screen import HistoryScreen
from tests.client.memory import MemoryClient
from tests.long_cases import named_cases
from tests.tui.conftest import Fly
from tests.tui.scene import scene
from tests.tui.test_agent_pictures import flown, hostile_agent, nine, single
from tests.tui.test_hostile import CONTROL, drawn
from tests.tui.test_joined_pictures import Hosts
from tests.tui.test_pictures import (
    LARGE,
    SCREENS,
    SMALL,
    USUAL,
    at_rest,
    bands,
    crowd,
    files,
    hostile_fleet,
    hostile_places,
    one_time_zone,
    question,
    recent,
    settled,
    treed,
)
from tests.tui.test_pictures_inbox import (
    HISTORY,
    asking,
    calm,
    crowded_inbox,
    hostile_inbox,
    hostile_past,
    inbox,
    opening,
    past,
    two_reviews,
)

__all__ = ["one_time_zone"]

Run = Callable[[Pilot[None]], Awaitable[None]]
BOTH = (SMALL, LARGE)
EVERY = (SMALL, USUAL, LARGE)
MARKUP = ("[/b] 漢字 evil [@c",)
"""As it was written, without its control characters."""


@dataclass(frozen=True)
class Case:
    """One screen, and what is read on it at each size; `small` and `large` add to `words`."""

    name: str
    make: Callable[[], MemoryClient]
    press: tuple[str, ...]
    words: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...] = BOTH
    small: tuple[str, ...] = ()
    large: tuple[str, ...] = ()
    screen: Any = None
    """What is opened at a time of its own, before the keys."""
    lose: bool = False
    """The supervisor goes away at the end."""
    selected: str | None = "api"


CONTEXT = ("o", "2")
CASES = (
    # Over the fleet.
    Case("bands", bands, (), ("force", "74%", "~40%", "–"),
         large=("stale", "large", "26%", "142k/200k act"), selected="act"),
    Case("events", recent, ("e",), ("20:15  api  was started", "20:17  api  crossed its act")),
    Case("question", question, ("d",), ("Hand off?", "has not been asked yet", "Current Task")),
    Case("nobody", MemoryClient, (), ("No agents yet. Press n to start one.", "cockpit init"),
         sizes=(LARGE,), selected=None),
    Case("crowd", crowd, ("j",), ("100 working", "─ agent-61 61k/200k"),
         selected="agent-60"),
    Case("lost", scene, (), ("supervisor unreachable · last seen", "documenting", "o open"),
         lose=True),
    Case("review", scene, SCREENS["review"], ("Prompt of the New Session", "Renewing in a"),
         sizes=(LARGE,)),
    Case("help", scene, SCREENS["help"], ("Agent", "Send a prompt to the agent."),
         large=("Approve and skip the review.", "Refuse; keep this", "Filter agents.")),
    Case("send", scene, SCREENS["send"], ("Send to api", "Now the changelog", "Ctrl-J line")),
    Case("settings", scene, SCREENS["settings"],
         ("55%", "hands off at once", "(a new file; adds `act`)"), sizes=(LARGE,)),
    Case("keys", scene, SCREENS["keys"], ("Sort within grou", "is already", "Ctrl-S save")),
    Case("stop", scene, SCREENS["stop"], ("Stop api?", "y stop it  n no  F1 help")),
    Case("filter", scene, SCREENS["filter"], ("working 1", "checkout", "/ pytest", "Esc all")),
    Case("toast", scene, SCREENS["toast"], ("a approve", "◆ review")),
    Case("worktrees", treed, SCREENS["worktrees"],
         ("3 commits not pushed or merged, 4 behind", "not cockpit's"), sizes=(LARGE,)),
    Case("removal", treed, SCREENS["removal"],
         ("Remove /srv/shop/.worktrees/api?", "y remove it  n no")),
    # Places whose supervisor went away: what was read stays.
    Case("review-lost", treed, ("d",), ("supervisor unreachable", "Renew access"), lose=True,
         sizes=EVERY),
    Case("start-lost", treed, ("n",), ("Start an agent", "runtime"), lose=True, sizes=EVERY),
    Case("settings-lost", treed, ("comma",), ("Settings", "warn", "theme"), lose=True,
         sizes=EVERY),
    # One agent.
    Case("agent-pane", lambda: flown(142_300), ("o", "1"),
         ("142k/200k 71%", "41 passed in 2.13s", "session 2 (max 4)"), sizes=(LARGE,)),
    Case("agent-facts", lambda: flown(142_300), ("o", "3"),
         ("Renew access tokens before they expire", "✓ TokenMargin, with tests")),
    Case("agent-diff", lambda: flown(142_300), ("o", "4"),
         ("3 files changed, 1 new file  +8 -2", "tests/auth/test_margin.py", "+5 -2")),
    Case("agent-events", lambda: flown(142_300), ("o", "5"),
         ("20:15  was started", "20:17  crossed its act point")),
    Case("agent-lost", lambda: flown(142_300), CONTEXT,
         ("supervisor unreachable", "#1  142k → 45k", "act 140k"), lose=True),
    Case("agent-help", flown, ("o", "question_mark"), ("Show the live pane.", "Reload this")),
    Case("chain-of-one", single, CONTEXT, ("#1  61k", "notice 100k", "now")),
    Case("chain-of-nine", nine, CONTEXT, ("#1  142k → 40k", "#8  170k → 40k", "#9  61k"),
         sizes=(LARGE,)),
    *(Case(f"agent-{band}", lambda tokens=tokens: flown(tokens),  # type: ignore[misc]
           CONTEXT, (f"{tokens // 1000}k/200k", said), sizes=(USUAL,))
      for band, tokens, said in (("notice", 104_000, "52%"), ("warn", 127_000, "64%"),
                                 ("act", 142_000, "71%"), ("force", 149_000, "74%"))),
    # Inbox and history.
    Case("inbox-empty", calm, (), ("nothing needs you", "New items appear here"),
         screen=inbox),
    Case("inbox-crowd", crowded_inbox, (), ("100 permission", "agent-0", "Bash: ls"),
         screen=inbox, sizes=(USUAL,)),
    Case("inbox-lost", asking, (), ("supervisor unreachable", "set -e", "usage limit"),
         screen=inbox, lose=True),
    Case("searched", past, HISTORY["searched"], ("2 handoffs · with “no margin”", "has no mar"),
         screen=HistoryScreen),
    Case("marked", past, HISTORY["marked"], ("8 handoffs · 2 marked", "*"), screen=HistoryScreen),
    Case("read", past, HISTORY["read"], ("handoff-h-api.md", "· session 2", "Verified Facts"),
         screen=HistoryScreen, sizes=(LARGE,)),
    Case("continued", past, HISTORY["continued"], ("Continue from api's document", "api-2"),
         screen=HistoryScreen),
    Case("history-help", past, HISTORY["help"], ("Mark the document for comparison; two at most.",),
         screen=HistoryScreen),
    Case("history-crowd", lambda: past(100), ("pagedown", "j"), ("100 handoffs", "done · by the"),
         screen=HistoryScreen),
    Case("history-empty", MemoryClient, (), ("0 handoffs", "No handoffs yet."),
         screen=HistoryScreen),
    Case("history-lost", past, (), ("supervisor unreachable", "under way", "  1→2"),
         screen=HistoryScreen, lose=True, sizes=EVERY),
    Case("queue", two_reviews, ("d",), ("1 of 2", "Approving ends this session", "n next")),
    # Hostile words.
    Case("fleet-hostile", hostile_fleet, (), (*MARKUP, "cleared?")),
    Case("worktrees-hostile", hostile_places, ("W",), MARKUP, sizes=EVERY),
    Case("review-hostile", hostile_places, ("d",), ("[/b] 漢字 evil",), sizes=EVERY),
    *(Case(f"agent-{number}-hostile", hostile_agent, ("o", number), ("[/b] 漢字",), sizes=EVERY)
      for number in "12345"),
    Case("inbox-hostile", hostile_inbox, (), (*MARKUP, "permission"), screen=inbox, sizes=EVERY),
    Case("history-hostile", hostile_past, (), (*MARKUP, "× failed"), screen=HistoryScreen,
         sizes=EVERY),
)  # fmt: skip


async def read(flight: Any, case: Case, size: tuple[int, int]) -> None:
    """Find the words, no cell too much or too few, and no control character."""
    more = {SMALL: case.small, LARGE: case.large}.get(size, ())
    await flight.reads(*case.words, *more)
    await at_rest(flight.pilot)
    lines = flight.text().split("\n")
    assert [cell_len(line) for line in lines] == [size[0]] * size[1]
    assert not CONTROL.search(drawn(flight.app))


@pytest.mark.parametrize(
    "case",
    named_cases(
        {case.name: case for case in CASES},
        *("bands", "filter", "question", "review", "settings", "worktrees", "toast"),
    ),
)
async def test_what_must_be_read_is_there(fly: Fly, case: Case) -> None:
    """At the first size as it opens, and at the others as the terminal is resized to them."""
    first, *others = case.sizes
    async with fly(case.make(), size=first, selected=case.selected, files=files) as flight:
        await settled(flight.pilot)  # type: ignore[arg-type]
        if case.screen is not None:
            await opening(case.screen)(flight.pilot)  # type: ignore[arg-type]
        await flight.press(*case.press)
        if case.lose:
            await at_rest(flight.pilot)  # type: ignore[arg-type]
            flight.client.disconnect()
            await flight.until(lambda: not flight.app.model.connection.live, "an outage")
        await read(flight, case, first)
        for size in others:
            await flight.pilot.resize_terminal(*size)  # type: ignore[union-attr]
            await read(flight, case, size)


@pytest.mark.parametrize(
    ("keys", "size", "words"),
    [
        ((), LARGE, ("gpu1 ○ lost", "3 ~ gpu1/sweep", "old", "build/docs")),
        (
            ("i", "G"),
            SMALL,
            ("~ permission   gpu1/sweep", "The host's agents are shown as last known."),
        ),
        (
            ("i", "G"),
            LARGE,
            ("~ permission   gpu1/sweep", "The host's agents are shown as last known."),
        ),
    ],
    ids=["fleet-200x60", "inbox-60x15", "inbox-200x60"],
)
async def test_what_must_be_read_of_several_hosts(
    fly: Fly, keys: tuple[str, ...], size: tuple[int, int], words: tuple[str, ...]
) -> None:
    hosts = Hosts()
    selected = "api" if keys else "gpu1/train"
    case = Case("hosts", scene, keys, words)
    async with fly(scene(), size=size, selected=selected, join=lambda _: hosts.client) as flight:
        await hosts.losing(*keys)(flight.pilot)  # type: ignore[arg-type, misc]
        await read(flight, case, size)

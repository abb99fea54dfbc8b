"""Every handoff there was: found, read, compared and gone on from, by keys."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import BadUsage, NoSupervisor
from cockpit.tui.screens.history.comparing import ComparingScreen
from cockpit.tui.screens.history.screen import HistoryScreen
from cockpit.tui.screens.review.reading import ReadingScreen
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import Status
from cockpit.wire.verbs import Continue
from tests.client.memory import MemoryClient
from tests.tui.scene import DOCUMENT, agent, scene
from tests.tui.scene_history import chain, handoff, session


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


async def test_all_of_it_newest_first_and_what_the_selected_one_came_to(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("History", "8 handoffs", "» under way", "142k → 38k", "· refused")
        await flight.press("j")
        await flight.reads("handoff-h-api.md", "$0.60")
        await flight.press("G")
        await flight.reads("done · by cockpit, from facts · 142k → 41k")
        await flight.press("q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_words_are_searched_for_as_they_are_typed(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("slash", *"no MARGIN yet")
        await flight.reads("1 handoff · with “no MARGIN yet”", "has no margin yet")
        await flight.press("enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReadingScreen))
        await flight.reads("Document api", "has no margin yet", "by the agent")
        await flight.press("q")
        await flight.until(lambda: isinstance(flight.app.screen, HistoryScreen))
        await flight.press("q")
        await flight.reads("8 handoffs")
        assert isinstance(flight.app.screen, HistoryScreen)
        await flight.press("slash", *'"* OR (')
        await flight.reads("0 handoffs", "No document contains all of these words.")


async def test_a_document_that_a_search_found_opens_at_the_line_that_was_found(fly: Fly) -> None:
    client = scene()
    early, late = "\n\n".join(["early"] * 60), "\n\n".join(["late"] * 60)
    client.lay("h-api-1", f"## Goal\n\n{early}\n\n- Rounded **up**, always.\n\n{late}\n")
    async with fly(client) as flight:
        await flight.press("H", "slash", *"rounded")
        await flight.reads("1 handoff")
        await flight.press("enter")
        await flight.reads("Rounded up, always.")
        screen = flight.app.screen
        assert isinstance(screen, ReadingScreen)
        (found,) = screen.document.query(".-found")
        assert found.region.y - screen.text.region.y <= 2


async def test_enter_right_after_the_words_opens_a_match_of_them(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("slash", *"no MARGIN yet", "enter")
        await flight.reads("Document api", "has no margin yet")


@pytest.mark.long
async def test_esc_leaves_the_words_and_an_arrow_keeps_them(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("slash", *"margin")
        await flight.reads("with “margin”")
        await flight.press("down")
        await flight.until(lambda: not flight.app.screen.search.has_focus)
        await flight.reads("with “margin”")
        await flight.press("slash")
        await flight.until(lambda: flight.app.screen.search.has_focus)
        await flight.press("escape")
        await flight.reads("8 handoffs")
        await flight.until(lambda: not flight.app.screen.search.display)
        await flight.press("escape")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_two_are_marked_and_compared_the_older_first(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("c")
        await flight.until(flight.toasts)
        assert "Mark two documents with Space" in flight.toasts()[0]
        await flight.press("j", "space", "j", "j", "space")
        await flight.reads("2 marked")
        await flight.press("c")
        await flight.until(lambda: isinstance(flight.app.screen, ComparingScreen))
        await flight.reads(
            "Compare  api",
            "+ - `Auth.refresh` renews only inside the margin",
            "- `src/auth.py` has no margin yet",
        )
        await flight.press("escape")
        await flight.reads("2 marked")


async def test_going_on_asks_for_a_name_that_nobody_running_has(fly: Fly) -> None:
    async with fly(scene(), directory=Path("/srv")) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("j", "n")
        await flight.reads("Continue from api's document", "starts from this document", "api-2")
        await flight.press("ctrl+u", *"api")
        await flight.reads("api is already running.")
        await flight.press("enter")
        assert flight.client.asked == []
        await flight.press(*"-again", "tab", *"other", "enter")
        place = "/srv/shop/.cockpit/handoffs/handoff-h-api.md"
        wanted = Continue(document=place, name="api-again", directory="/srv/other")
        await flight.until(lambda: flight.client.asked == [wanted])
        await flight.until(lambda: isinstance(flight.app.screen, HistoryScreen))


async def test_a_refused_continue_says_why(fly: Fly) -> None:
    client = scene()
    client.refuse(Continue, BadUsage("Where is the new agent to work?", "", "Say it."))
    async with fly(client) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("j", "n")
        await flight.reads("starts from this document")
        await flight.press("enter")
        await flight.until(flight.toasts)
        assert "Where is the new agent to work?" in flight.toasts()[0]


@pytest.mark.long
async def test_only_the_pages_that_are_looked_at_are_asked_for(fly: Fly) -> None:
    client = scene()
    made = [handoff(f"h-{n:04}", f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z") for n in range(350)]
    client.remember([chain("api", *(session(n + 1, each) for n, each in enumerate(made)))])
    async with fly(client) as flight:
        await flight.press("H")
        await flight.reads("350 handoffs")
        screen = flight.app.screen
        assert len(screen.list.keys) == 100
        assert [size for size, _, _ in client.pages] == [100]
        for _ in range(10):
            await flight.press("pagedown")
        await flight.until(lambda: len(screen.list.keys) >= 200)
        assert screen.list.selected != "h-0000"
        await flight.press("G")
        await flight.until(lambda: screen.list.selected == "h-0000")
        assert len(screen.list.keys) == 350
        await flight.press("f")
        await flight.reads("350 handoffs · of api")
        await flight.until(lambda: (100, None, "api") in client.pages, "the page of api")


async def test_one_agent_alone_and_everybody_again(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("f")
        await flight.reads("3 handoffs · of search")
        await flight.press("f")
        await flight.reads("8 handoffs")


async def test_what_left_no_document_says_why_and_cannot_be_gone_on_from(fly: Fly) -> None:
    client = scene()
    bare = handoff("x", "2026-11-21T20:00:00Z", "cancelled", document=None, why="you typed")
    client.remember([chain("api", session(1, bare))])
    async with fly(client) as flight:
        await flight.press("H")
        await flight.reads("1 handoff", "no document")
        reasons = {"enter": "left no document: you typed", "n": "no document", "space": "compare"}
        for key, why in reasons.items():
            await flight.press(key)
            await flight.until(lambda why=why: why in str(flight.toasts()), why)
        assert isinstance(flight.app.screen, HistoryScreen)


async def test_a_handoff_that_ends_meanwhile_is_shown_as_it_is(fly: Fly) -> None:
    client = scene()
    async with fly(client) as flight:
        await flight.press("H")
        await flight.reads("» under way")
        client.remember([chain("api", session(1, handoff("x", "2026-11-21T20:00:00Z")))])
        client.happen("handoff.done", "api goes on", "api")
        await flight.reads("1 handoff", "✓ done")


async def test_without_a_supervisor_the_list_stays_and_what_cannot_be_had_is_said(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        flight.client.disconnect()
        await flight.until(lambda: not flight.app.model.connection.live)
        await flight.press("n")
        await flight.until(flight.toasts)
        assert "The supervisor is not responding" in flight.toasts()[0]
        flight.app.clear_notifications()
        await flight.press("j", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReadingScreen))
        await flight.until(flight.toasts, "why not")
        await flight.press("q")
        await flight.reads("8 handoffs")


async def test_what_could_not_be_had_is_not_said_to_be_nothing(fly: Fly) -> None:
    async with fly(scene()) as flight:
        flight.client.disconnect()
        await flight.until(lambda: not flight.app.model.connection.live)
        await flight.press("H")
        await flight.reads("History", "The supervisor is not responding. Run: cockpit up")
        assert "0 handoffs" not in flight.text()
        assert "loading…" not in flight.text()


async def test_a_hostile_document_is_read_without_harm(fly: Fly) -> None:
    client = scene()
    client.lay("h-api", DOCUMENT + "\n\x1b]52;c;eA==\x07 [@click=app.quit]go[/] \x1b[2J ends\n")
    async with fly(client, size=(100, 60)) as flight:
        await flight.press("H")
        await flight.reads("8 handoffs")
        await flight.press("j", "enter")
        await flight.reads("[@click=app.quit]go[/]", "ends")
        assert "\x1b" not in flight.text()
        await flight.press("q", "q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


@pytest.mark.long
async def test_every_key_that_moves_moves_the_selection_also_in_a_list_that_scrolls(
    fly: Fly,
) -> None:
    client = scene()
    many = [
        session(number, handoff(f"h-{number}", f"2026-11-21T{number // 60:02}:{number % 60:02}Z"))
        for number in range(1, 61)
    ]
    client.remember([chain("api", *many)])
    async with fly(client, size=(60, 15)) as flight:
        await flight.press("H")
        await flight.reads("60 handoffs")
        chosen = flight.app.screen.list
        assert chosen.selected == "h-60"
        for keys, now in (
            (("down", "j"), "h-58"), (("up",), "h-59"), (("pagedown",), "h-50"),
            (("pageup", "k"), "h-60"), (("end",), "h-1"), (("home",), "h-60"),
        ):  # fmt: skip
            await flight.press(*keys)
            await flight.until(lambda now=now: chosen.selected == now, now)
            await flight.until(lambda: "▌" in flight.text(), "the selected one is in view")


async def test_a_far_document_is_gone_on_from_where_it_is(fly: Fly) -> None:
    there = MemoryClient(Status(agents=[agent("api")]))
    there.remember([chain("api", session(1, handoff("h-far", "2026-11-21T20:00:00Z")))])
    here = MemoryClient(Status(agents=[agent("api")]))
    client: Any = JoinedClient(here, [HostClient("gpu1", there)])
    async with fly(client, selected="api") as flight:
        await flight.reads("gpu1/api")
        await flight.press("H")
        await flight.reads("1 handoff", "gpu1/api")
        await flight.press("n")
        await flight.reads("Continue from gpu1/api's document", "api-2")
        await flight.press("tab", *"~/x", "enter")
        await flight.reads("~ cannot be expanded on gpu1.")
        await flight.press("ctrl+u", "enter")
        await flight.until(lambda: there.asked, "the continuation")
        document = "/srv/shop/.cockpit/handoffs/handoff-h-far.md"
        assert there.asked == [Continue(document=document, name="api-2")]
        there.disconnect()
        await flight.reads("without gpu1")


class _FailsToTell(MemoryClient):
    """A supervisor whose stream is fine, and whose history fails while `why` is set."""

    why: NoSupervisor | None = None

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        if self.why is not None:
            raise self.why
        return await super().history(name, search)


async def test_a_host_that_fails_while_it_is_asked_is_named_with_the_reason(fly: Fly) -> None:
    there = _FailsToTell(Status(agents=[agent("api")]))
    there.remember([chain("api", session(1, handoff("h-far", "2026-11-21T20:00:00Z")))])
    there.lay("h-far", "the token")
    there.why = NoSupervisor("Host gpu1 does not answer", "No data in 60 s.\nMore.", "Try it")
    here = MemoryClient(Status(agents=[agent("api")]))
    here.remember([chain("api", session(1, handoff("h-near", "2026-11-21T21:00:00Z")))])
    here.lay("h-near", "the token")
    client: Any = JoinedClient(here, [HostClient("gpu1", there)])
    missing = "without gpu1: Host gpu1 does not answer: No data in 60 s."
    async with fly(client, selected="api", size=(120, 40)) as flight:
        await flight.reads("gpu1/api")
        await flight.press("H")
        await flight.reads("1 handoff", missing)
        there.why = None
        there.happen("handoff.done", "api goes on", "api")
        await flight.reads("2 handoffs")
        assert "without" not in flight.text()
        there.why = NoSupervisor("Lost connection to the supervisor on gpu1")
        await flight.press("slash", *"token", "down")
        await flight.reads("with “token”", "without gpu1: Lost connection to the supervisor")
        assert flight.app.model.lost == []

"""The list of sessions that cockpit did not start, their details, and adopting one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Static

from cockpit.core.errors import NotNow
from cockpit.tui.app import CockpitApp
from cockpit.tui.present.elsewhere import detail, drawn, question, refused
from cockpit.tui.present.fleet import ElsewhereLine, elsewhere_spans
from cockpit.tui.present.span import Span, plain
from cockpit.tui.screens.elsewhere.screen import ElsewhereScreen
from cockpit.tui.screens.fleet.screen import FleetScreen
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.verbs import Adopt, DocumentSession, Done, WatchSession
from tests.client.memory import MemoryClient
from tests.tui.scene import context, scene
from tests.tui.scene_elsewhere import BUSY, HOSTILE, IDLE, NOW, REFUSED, SESSIONS
from tests.tui.test_pictures import app, at_rest, settled

WIDTHS = [20, 30, 40, 60, 80, 200]


async def when(pilot: Pilot[Any], true: Callable[[], object]) -> None:
    """Wait until a condition holds; a list that is being drawn can rest before that."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, pilot.app.screen
        await pilot.pause(0.02)


def text(session: ElsewhereSession, width: int = 80, progress: str = "") -> str:
    lines = drawn(session, NOW, width, progress, "/home/me")
    return _read(lines, width)


def details(session: ElsewhereSession, width: int = 100) -> str:
    return _read(detail(session, NOW, width, "/home/me"), width)


def _read(lines: list[list[Span]], width: int) -> str:
    assert all(cell_len(plain(line)) <= width for line in lines)
    return "\n".join(plain(line) for line in lines)


def test_a_session_is_described_by_what_is_known_of_it() -> None:
    shown = text(BUSY, progress="adopting")
    assert " /srv/shop\n   ● working  " in shown
    assert " 71%" in shown
    assert "Fix the login test" in shown
    assert "adopting" in shown
    unknown = text(HOSTILE.model_copy(update={"goal": None}))
    assert "context unknown" in unknown
    assert "session ffff, process 813" in unknown
    assert "far:/srv/shop" in text(BUSY.model_copy(update={"host": "far"}))


def test_the_details_say_where_it_runs_and_what_adopting_does() -> None:
    shown = details(BUSY)
    assert "Claude Code 2.1.330, claude-sonnet-4-6" in shown
    assert "tmux pane %4 of /tmp/tmux-1000/default, terminal pts/3" in shown
    assert "812, started 2h ago" in shown
    assert "142k of 200k tokens, act" in shown
    assert "compacts at 167k (estimate)" in shown
    assert "process 812. The session is working: its turn is interrupted." in shown
    assert "keeps      the conversation, the directory and all files." in shown
    assert "tmux pane %4 shows where the session went." in shown
    assert "interrupted" not in details(IDLE)
    assert "terminal pts/7" in details(IDLE)


def test_a_guess_is_marked_and_what_is_unknown_is_not_drawn() -> None:
    guessed = IDLE.model_copy(update={"context": context(80_000, confidence="assumed")})
    assert "~40%" in text(guessed)
    assert "80k of ~200k tokens" in details(guessed)
    assert "the window is assumed" in details(guessed)
    assert "No reply found in its transcript." in details(HOSTILE)
    assert "%" not in details(HOSTILE)
    assert "no terminal" in details(HOSTILE)


def test_a_refusal_is_said_in_place_of_what_adopting_does() -> None:
    shown = details(REFUSED)
    assert "This session cannot be adopted now:" in shown
    assert "The session belongs to api." in shown
    assert "keeps      the conversation" not in shown
    said = refused("Process 812 did not end", "It still runs.", "End it in its terminal")
    shown = _read(detail(BUSY, NOW, 100, "", said), 100)
    assert "Process 812 did not end" in shown
    assert "keeps      the conversation" not in shown


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("session", [*SESSIONS, HOSTILE], ids=lambda one: one.pid)
def test_it_fits_every_width(width: int, session: ElsewhereSession) -> None:
    for shown in (text(session, width, "Adopting it."), details(session, width)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize("width", [1, 10, 24, 60])
def test_the_folded_group_is_one_line(width: int) -> None:
    for selected in (False, True):
        line = elsewhere_spans(ElsewhereLine(3), width, "Enter", selected=selected)
        assert cell_len(plain(line)) <= width
    assert "Elsewhere: 1 session " in plain(
        elsewhere_spans(ElsewhereLine(1), 60, "Enter", selected=True)
    )


def test_the_question_says_what_is_interrupted() -> None:
    assert "its turn is interrupted" in question(BUSY)
    assert "in tmux pane %4" in question(BUSY)
    assert "interrupted" not in question(IDLE)
    assert len(question(BUSY)) < 400


def with_sessions(*sessions: ElsewhereSession) -> MemoryClient:
    client = scene()
    client.others = list(sessions)
    return client


def listed(shown: CockpitApp) -> str:
    fleet = shown.get_default_screen() if not shown.screen_stack else shown.screen_stack[0]
    assert isinstance(fleet, FleetScreen)
    return "\n".join(plain(fleet.fleet.spans_at(line)) for line in range(fleet.fleet.height))


async def test_the_group_is_selected_after_the_last_agent_and_enter_opens_it() -> None:
    client = with_sessions(BUSY, IDLE)
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        assert "Elsewhere: 2 sessions" in listed(shown)
        await pilot.press("G")
        await at_rest(pilot)
        assert shown.model.selected is None
        assert "Enter lists them" in listed(shown)
        # Nothing is done to the agent that was selected before.
        await pilot.press("x")
        await at_rest(pilot)
        assert len(shown.screen_stack) == 1
        await pilot.press("enter")
        await at_rest(pilot)
        assert isinstance(shown.screen, ElsewhereScreen)
        await pilot.press("escape", "k")
        await at_rest(pilot)
        assert shown.model.selected == "cron"
        await pilot.press("j")
        client.live_elsewhere([])
        await at_rest(pilot)
        assert "Elsewhere" not in listed(shown)
        assert shown.model.selected is not None


async def test_a_filter_hides_the_group_and_no_agents_leave_it() -> None:
    shown = app(with_sessions(BUSY))
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"api", "enter")
        await at_rest(pilot)
        assert "Elsewhere" not in listed(shown)
    client = MemoryClient()
    client.others = [BUSY]
    alone = app(client, selected=None)
    async with alone.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        assert "No agents yet" in listed(alone)
        await pilot.press("j", "enter")
        await at_rest(pilot)
        assert isinstance(alone.screen, ElsewhereScreen)


async def test_a_session_is_adopted_after_a_question() -> None:
    client = with_sessions(BUSY, HOSTILE)
    shown = app(client)
    async with shown.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("j", "k", "a")
        await at_rest(pilot)
        await pilot.press("n")
        await at_rest(pilot)
        assert not [verb for verb in client.asked if isinstance(verb, Adopt)]
        await pilot.press("a")
        await at_rest(pilot)
        await pilot.press("y")
        await at_rest(pilot)
        adopted = [verb for verb in client.asked if isinstance(verb, Adopt)]
        assert adopted == [Adopt(session=BUSY.session_id, pid=812)]
        await pilot.press("E")
        await at_rest(pilot)
        assert not isinstance(shown.screen, ElsewhereScreen)


async def test_what_is_refused_is_said_and_stays() -> None:
    client = with_sessions(REFUSED, BUSY)
    client.refuse(Adopt, NotNow("Process 812 did not end", "It still runs.", "End it by hand."))
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("a")
        await at_rest(pilot)
        assert not client.asked
        assert any("belongs to api" in str(one.message) for one in shown._notifications)
        await pilot.press("j", "a")
        await at_rest(pilot)
        await pilot.press("y")
        await at_rest(pilot)
        screen = shown.screen
        assert isinstance(screen, ElsewhereScreen)
        assert "Process 812 did not end" in "\n".join(
            plain(list(line)) for line in screen.detail._lines
        )


async def test_a_key_watches_a_session_and_stops_that() -> None:
    client = with_sessions(BUSY, IDLE)
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        screen = shown.screen
        assert isinstance(screen, ElsewhereScreen)

        def said() -> str:
            lines = [*screen.listing._lines, *screen.detail._lines]
            return "\n".join(plain(list(each)) for each in lines)

        def is_shown(watched: bool) -> bool:
            return watched is ("watched: Fix" in said())

        def was_asked(wanted: WatchSession) -> bool:
            return client.asked[-1:] == [wanted]

        for watched in (False, True):
            await when(pilot, partial(is_shown, watched))
            assert watched is ("you are notified once" in said())
            client.others = [BUSY.model_copy(update={"watched": not watched}), IDLE]
            await pilot.press("w")
            await at_rest(pilot)
            wanted = WatchSession(session=BUSY.session_id, pid=812, stop=watched)
            await when(pilot, partial(was_asked, wanted))
        await when(pilot, lambda: "watched" not in plain(list(screen.listing._lines[2])))


async def test_a_refusal_to_watch_is_said() -> None:
    client = with_sessions(BUSY)
    client.refuse(WatchSession, NotNow("Process 812 has ended", "", "Look again."))
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("w")
        await at_rest(pilot)
        assert any("Process 812 has ended" in one.message for one in shown._notifications)


async def test_a_key_has_the_document_written_after_a_question() -> None:
    client = with_sessions(BUSY, IDLE)
    written = Done(message="Wrote it", document="/srv/shop/.handoff/one.md")
    client.when(DocumentSession, lambda _: written)
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("d")
        await at_rest(pilot)
        asked = "\n".join(str(one.render()) for one in shown.screen.query(Static))
        assert "one request with the whole context (142k tokens)" in asked
        await pilot.press("n")
        await at_rest(pilot)
        assert not client.asked
        await pilot.press("d")
        await at_rest(pilot)
        await pilot.press("y")
        await at_rest(pilot)
        assert client.asked == [DocumentSession(session=BUSY.session_id, pid=812)]
        screen = shown.screen
        assert isinstance(screen, ElsewhereScreen)
        said = "\n".join(plain(list(line)) for line in screen.detail._lines)
        assert "The handoff document:\n /srv/shop/.handoff/one.md\n" in said
        assert "cockpit continue PATH --name NAME" in said


async def test_a_refusal_to_write_a_document_is_said_and_stays() -> None:
    client = with_sessions(BUSY)
    client.refuse(DocumentSession, NotNow("The session has no reply yet", "", "Try again later."))
    shown = app(client)
    async with shown.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("d")
        await at_rest(pilot)
        await pilot.press("y")
        await at_rest(pilot)
        screen = shown.screen
        assert isinstance(screen, ElsewhereScreen)
        said = "\n".join(plain(list(line)) for line in screen.detail._lines)
        assert "The session has no reply yet" in said


@pytest.mark.parametrize("size", [(60, 15), (100, 30), (200, 60)], ids=str)
async def test_the_details_can_have_the_screen_to_themselves(size: tuple[int, int]) -> None:
    shown = app(with_sessions(*SESSIONS))
    async with shown.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        screen = shown.screen
        assert isinstance(screen, ElsewhereScreen)
        assert screen.detail.display is (size != (60, 15))
        assert screen.listing.size.height >= 4
        await pilot.press("enter")
        await at_rest(pilot)
        assert screen.detail.display
        assert not screen.listing.display
        await pilot.press("escape")
        await at_rest(pilot)
        assert screen.listing.display
        assert screen.is_current


async def test_without_sessions_it_says_so() -> None:
    shown = app(scene())
    async with shown.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("a")
        await at_rest(pilot)
        assert any("There are no sessions" in str(one.message) for one in shown._notifications)


async def test_switched_off_it_says_so() -> None:
    client = scene()
    client.others = None
    shown = app(client)
    async with shown.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await at_rest(pilot)
        await pilot.press("a")
        await at_rest(pilot)
        assert any("[elsewhere] show = true" in str(one.message) for one in shown._notifications)

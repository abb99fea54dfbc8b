"""The home screen: what keys ask of the supervisor, what is shown, what it costs when quiet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.errors import NotNow
from cockpit.ports.panes import PanesSilent
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.wire.status import Needs, Status, SupervisorStatus
from cockpit.wire.stream import ScreenShot
from cockpit.wire.verbs import Approve, Handoff, Refuse, Resume, Send, Snooze, Start, Stop, Verb
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, context, scene

NOT_FOUND = "1 file not found: tests/test_parse.py"


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


@pytest.mark.parametrize(
    ("key", "name", "verb"),
    [
        ("a", "api", Approve(name="api", handoff="h-api")),
        ("r", "api", Refuse(name="api", handoff="h-api")),
        ("z", "api", Snooze(name="api", handoff="h-api")),
        ("Z", "api", Snooze(name="api", handoff="h-api", percent=10)),
        ("c", "api", Refuse(name="api", handoff="h-api", compact=True)),
    ],
)
async def test_a_key_asks_for_its_verb(fly: Fly, key: str, name: str, verb: Verb) -> None:
    async with fly(scene(), selected=name) as flight:
        await flight.press(key)
        await flight.until(lambda: flight.client.asked == [verb], key)


async def test_a_document_with_claims_not_found_is_read_before_it_is_approved(fly: Fly) -> None:
    client = scene()
    handoff = client.agent("api").handoff
    assert handoff is not None
    client.change("api", handoff=handoff.model_copy(update={"not_found": NOT_FOUND}))
    client.lay("h-api", "## Goal\n\nat last\n")
    async with fly(client, size=(80, 24), selected="api", toasts=True) as flight:
        await flight.reads("✗ 1 file not")
        await flight.press("a")
        await flight.reads("at last")
        await flight.until(
            lambda: f"Not approved yet. cockpit's check: {NOT_FOUND}." in str(flight.toasts())
        )
        await flight.reads("Not approved yet")
        assert client.asked == []
        await flight.press("escape")
        await flight.until(lambda: not isinstance(flight.app.screen, ReviewScreen), "closed")
        await flight.press("a")
        await flight.until(lambda: client.asked == [Approve(name="api", handoff="h-api")], "read")


async def test_a_handoff_asks_first_and_says_what_it_ends_and_costs(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        await flight.press("h", "left")
        await flight.press("f")
        await flight.reads(
            "Hand off checkout to a new session?",
            "Then the agent's session ends",
            "The handoff costs",
        )
        await flight.press("f", "n")
        assert flight.client.asked == []
        await flight.press("f", "y")
        await flight.until(lambda: flight.client.asked == [Handoff(name="checkout")])


async def test_a_done_agent_is_handed_off_only_after_a_warning(fly: Fly) -> None:
    client = scene()
    client.change("checkout", state="done")
    async with fly(client, selected="checkout") as flight:
        await flight.press("f")
        await flight.reads("checkout has finished its job. Hand off anyway?")
        await flight.press("escape")
        assert flight.client.asked == []


async def test_a_snoozed_question_says_until_when_and_can_be_answered_or_woken(fly: Fly) -> None:
    client = scene()
    handoff = client.agent("api").handoff
    assert handoff is not None
    at = datetime(2026, 7, 9, 12, 51, tzinfo=UTC)
    snoozed = handoff.model_copy(update={"snoozed_until": at.isoformat()})
    client.change("api", state="idle", needs=None, handoff=snoozed)
    until = at.astimezone().strftime("snoozed until %H:%M")
    async with fly(client, selected="api") as flight:
        await flight.reads(until)
        await flight.press("z")
        wake = Snooze(name="api", handoff="h-api", seconds=0)
        await flight.until(lambda: flight.client.asked == [wake])
        await flight.press("a")
        await flight.until(
            lambda: flight.client.asked[1:] == [Approve(name="api", handoff="h-api")]
        )
        await flight.press("i")
        await flight.reads("◇ snoozed", "1 snoozed")
        await flight.press("j")
        await flight.reads("a approve", "r refuse", "z ask now")
        await flight.press("enter")
        await flight.reads("Snoozed until")


async def test_one_key_reopens_everybody_after_a_restart(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="checkout") as flight:
        await flight.press("R")
        await flight.until(flight.toasts)
        assert "No agents to reopen" in flight.toasts()[0]
        words = "it was running when the machine was restarted"
        needs = Needs(kind="resume", detail=words)
        client.change("checkout", state="needs_you", needs=needs, pid=None)
        await flight.reads("reopen?", words, "R reopen all")
        await flight.press("R")
        await flight.until(lambda: flight.client.asked == [Resume()])


async def test_a_key_that_cannot_work_asks_nothing_and_says_why(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        await flight.press("a")
        await flight.until(flight.toasts)
        assert "isn't waiting for you" in flight.toasts()[0]
        assert flight.client.asked == []


async def test_a_refusal_is_told_with_its_reason_and_next_step(fly: Fly) -> None:
    client = scene()
    client.refuse(Handoff, NotNow("not now", "a permission dialog is open", "Answer it."))
    async with fly(client, selected="checkout") as flight:
        await flight.press("f", "y")
        await flight.until(flight.toasts)
        toast = flight.toasts()[0]
        assert all(part in toast for part in ("not now", "permission dialog", "Answer it."))


async def test_stopping_asks_for_a_second_and_different_key(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        await flight.press("x", "x", "x", "x")
        assert flight.client.asked == []
        await flight.reads("Stop checkout?", "y stop it  n no  F1 help")
        await flight.press("f1")
        await flight.reads("Stop it.", "Cancel.")
        await flight.press("y", "escape", "n")
        assert flight.client.asked == []
        await flight.press("x", "y")
        await flight.until(lambda: flight.client.asked == [Stop(name="checkout")])


async def test_a_prompt_may_have_several_lines_and_enter_sends_it(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        await flight.press("s", "g", "o", "ctrl+j", "o", "n", "enter")
        await flight.until(lambda: flight.client.asked == [Send(name="checkout", text="go\non")])
        await flight.press("s", "q", "ctrl+g")
        await flight.press("s", "enter")
        assert len(flight.client.asked) == 1


async def test_a_stopped_agent_is_started_by_its_name_alone(fly: Fly) -> None:
    async with fly(scene(), selected="cron") as flight:
        await flight.press("n")
        await flight.reads("cron starts in /srv/shop on branch main")
        await flight.press("enter")
        await flight.until(lambda: flight.asked == [Start(name="cron")])


async def test_a_new_agent_is_judged_while_it_is_typed(fly: Fly, tmp_path: Path) -> None:
    async with fly(scene(), selected="api", directory=tmp_path) as flight:
        await flight.press("n", "B", "i", "g")
        await flight.reads("Try: big")
        await flight.press("enter")
        assert flight.asked == []
        await flight.press("backspace", "backspace", "backspace", *"api")
        await flight.reads("api is already running")
        await flight.press("2")
        await flight.reads("api2 starts in ")
        await flight.press("ctrl+s")
        wanted = Start(name="api2", directory=str(tmp_path), mode="prompt")
        await flight.until(lambda: flight.asked == [wanted])


@pytest.mark.long
async def test_moving_and_jumping_select(fly: Fly) -> None:
    async with fly(scene()) as flight:
        model = flight.app.model
        assert model.selected == "api", "the first of those that need the user"
        for key, name in (
            ("j", "mailer"), ("down", "search"), ("k", "mailer"), ("G", "cron"), ("j", "cron"),
            ("g", "api"), ("up", "api"), ("4", "checkout"), ("tab", "api"), ("tab", "mailer"),
        ):  # fmt: skip
            await flight.press(key)
            assert model.selected == name, key


async def test_enter_and_a_second_click_attach(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("enter")
        await flight.until(lambda: flight.attached == ["api"])
        await flight.pilot.click("#fleet", offset=(8, 2))
        await flight.until(lambda: flight.app.model.selected == "mailer")
        await flight.pilot.click("#fleet", offset=(8, 2))
        await flight.until(lambda: flight.attached == ["api", "mailer"])


async def test_a_terminal_that_cannot_be_given_away_is_said(fly: Fly) -> None:
    async with fly(scene(), direct=True) as flight:
        await flight.press("enter")
        await flight.until(flight.toasts)
        assert flight.attached == []
        await flight.press("j")
        assert flight.app.model.selected == "mailer"


async def test_only_the_pane_of_the_selected_agent_is_looked_at(fly: Fly) -> None:
    client = scene()
    client.show("mailer", ["mail goes out"])
    async with fly(client) as flight:
        await flight.reads("pytest -q tests/auth")
        await flight.press("j")
        await flight.reads("mail goes out")
        await flight.until(lambda: client.onlookers("api") == 0)
        assert client.onlookers("mailer") == 1
        await flight.press("G")
        await flight.reads("Not running. Press n to start it.")
        await flight.until(lambda: client.onlookers("mailer") == 0)


async def test_a_pane_that_another_screen_hides_is_not_looked_at(fly: Fly) -> None:
    client = scene()
    async with fly(client) as flight:
        await flight.reads("pytest -q tests/auth")
        await flight.press("d")
        await flight.until(lambda: client.onlookers("api") == 0)
        await flight.press("q")
        await flight.until(lambda: client.onlookers("api") == 1)
        await flight.press("s")
        await flight.until(lambda: len(flight.app.screen_stack) == 2)
        assert client.onlookers("api") == 1, "a question in front hides nothing"


async def test_a_pane_that_is_replaced_is_looked_at_anew(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="cron") as flight:
        await flight.reads("Not running")
        client.change("cron", state="working", pane="%99")
        client.show("cron", ["cron is up"])
        await flight.reads("cron is up")


async def test_what_changes_is_shown_and_what_does_not_is_not_drawn_again(fly: Fly) -> None:
    client = scene()
    async with fly(client) as flight:
        await flight.reads("31%")
        client.change("checkout", context=context(88_000))
        await flight.reads("44%")
        assert flight.fleet.fleet.show() == 0
        flight.fleet.fleet.outdated("checkout")
        assert flight.fleet.fleet.show() == 0
        client.change("checkout", activity="Read cart.py")
        await flight.reads("Read cart")


async def test_moving_before_a_change_is_drawn_is_no_trouble(fly: Fly) -> None:
    async with fly(scene()) as flight:
        flight.fleet.fleet.outdated("mailer")
        flight.fleet.fleet.move(1)
        assert flight.app.model.selected == "mailer"


async def test_one_changed_agent_is_one_line(fly: Fly) -> None:
    client = scene()
    async with fly(client) as flight:
        flight.app.model._listeners.clear()
        client.change("checkout", activity="Read cart.py")
        await flight.until(lambda: flight.app.model.agents["checkout"].activity == "Read cart.py")
        flight.fleet.fleet.outdated("checkout")
        assert flight.fleet.fleet.show() == 1


async def test_a_supervisor_that_goes_away_is_said_and_comes_back(fly: Fly) -> None:
    client = scene()
    async with fly(client) as flight:
        client.disconnect()
        await flight.reads("supervisor unreachable", "142k/200k")
        await flight.press("j")
        assert flight.app.model.selected == "mailer"
        await flight.press("f")
        await flight.until(flight.toasts)
        assert "cockpit up" in flight.toasts()[0]
        client.change("checkout", state="done")
        client.reconnect()
        await flight.reads("1 done")
        client.show("mailer", ["still here"])
        await flight.reads("still here")


async def test_the_selection_is_there_again_for_the_next_screen(fly: Fly, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    async with fly(scene(), remember_in=file) as flight:
        await flight.press("4")
    assert file.stat().st_mode & 0o777 == 0o600
    async with fly(scene(), remember_in=file) as flight:
        assert flight.app.model.selected == "checkout"
        await flight.press("j")
        assert flight.app.model.selected == "docs"


@pytest.mark.long
async def test_an_arrow_leads_out_of_the_filter_and_keeps_it(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("slash", *"web")
        await flight.press("down")
        await flight.until(lambda: flight.fleet.focused is flight.fleet.fleet)
        assert flight.fleet.filter.value == "web"


async def test_a_filter_leaves_only_who_has_its_words(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("slash", *"pytest", "enter")
        await flight.until(lambda: flight.fleet.fleet.names == ["checkout"])
        assert flight.app.model.selected == "checkout"
        await flight.press("slash", *["backspace"] * 6, "enter")
        assert len(flight.fleet.fleet.names) == 8


async def test_a_filter_needs_no_key_that_clears_it(fly: Fly) -> None:
    async with fly(scene(), keys={"unfilter": ""}) as flight:
        await flight.press("slash", *"pytest", "enter")
        await flight.reads("1 of 8")


async def test_no_key_acts_on_an_agent_that_the_filter_hides(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("slash", *"zzz", "enter")
        await flight.reads("0 of 8", "No agent matches the filter.", "2 need you")
        await flight.press("a", "x", "f")
        await flight.until(lambda: "No agent is selected.  ×3" in str(flight.toasts()), "why not")
        assert flight.client.asked == []


async def test_an_agent_that_leaves_the_filter_gives_its_keys_to_no_other(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="checkout") as flight:
        await flight.press("slash", *"working", "enter")
        await flight.until(lambda: len(flight.fleet.fleet.names) > 1)
        selected = flight.app.model.selected
        client.change(selected, state="done")
        await flight.until(lambda: selected not in flight.fleet.fleet.names)
        await flight.until(lambda: flight.app.model.selected is None)
        await flight.press("escape")
        await flight.until(lambda: flight.app.model.selected is not None)


async def test_the_header_counts_the_agents_that_the_filter_shows(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        assert "2 need you" in flight.text()
        await flight.press("slash", *"mailer", "enter")
        await flight.reads("1 of 8", "1 needs you")


async def test_ctrl_c_asks_to_leave_and_again_cancels(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("ctrl+c")
        await flight.reads("Leave cockpit?", "Agents and supervisor keep running.")
        await flight.press("ctrl+c")
        await flight.until(lambda: "Leave cockpit?" not in flight.text())
        assert flight.toasts() == []
        assert flight.app.is_running
        await flight.press("i")
        await flight.press("ctrl+c")
        await flight.reads("Leave cockpit?")
        await flight.press("y")
        await flight.until(lambda: flight.app.return_value is True)


async def test_the_question_to_leave_is_closed_when_its_terminal_is_lost(fly: Fly) -> None:
    terminals = [1]
    looks = 0

    async def attached() -> int:
        nonlocal looks
        looks += 1
        return len(terminals)

    async with fly(scene(), selected="api", attached=attached) as flight:
        await flight.press("ctrl+c")
        await flight.until(lambda: looks > 0)
        assert "Leave cockpit?" in flight.text()
        await flight.press("f1")
        await flight.until(lambda: "Leave cockpit?" not in flight.text())
        terminals.clear()
        seen = looks
        await flight.until(lambda: looks > seen)
        terminals.append(1)
        await flight.press("escape")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        assert flight.app.is_running


async def test_the_question_to_leave_stays_if_tmux_does_not_answer(fly: Fly) -> None:
    asked = asyncio.Event()

    async def attached() -> int:
        asked.set()
        raise PanesSilent("tmux does not respond")

    async with fly(scene(), selected="api", attached=attached) as flight:
        await flight.press("ctrl+c")
        await flight.until(asked.is_set)
        await flight.pilot.pause()
        assert "Leave cockpit?" in flight.text()


async def test_q_asks_where_leaving_ends_something(fly: Fly) -> None:
    async with fly(scene(), selected="api", ends_on_leaving="This ends the demo.") as flight:
        await flight.press("q", "q")
        await flight.until(lambda: "Leave cockpit?" not in flight.text())
        await flight.press("q")
        await flight.reads("Leave cockpit?", "This ends the demo.")
        await flight.press("y")
        await flight.until(lambda: flight.app.return_value is True)


async def test_nothing_is_promised_in_a_demo_or_without_a_supervisor(fly: Fly) -> None:
    async with fly(scene(), ends_on_leaving="This ends the demo.") as flight:
        assert flight.app.what_keeps_running() == ""
    client = scene()
    async with fly(client) as flight:
        assert flight.app.what_keeps_running().startswith("7 agents keep running.")
        client.disconnect()
        await flight.until(lambda: not flight.app.model.connection.live, "the end")
        assert flight.app.what_keeps_running() == ""
    async with fly(MemoryClient()) as flight:
        assert flight.app.what_keeps_running().startswith("The supervisor keeps running.")


class SlowPane(MemoryClient):
    """The capture of every agent but `api` comes only when it is let."""

    def __init__(self, first: Status) -> None:
        super().__init__(first)
        self.let = asyncio.Event()

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        if name != "api":
            await self.let.wait()
        async for shot in super().screen(name, history):
            yield shot


async def test_a_pane_does_not_stay_below_the_name_of_another_agent(fly: Fly) -> None:
    client = SlowPane(Status(agents=[agent("api"), agent("web")]))
    client.show("api", ["the pane of api"])
    client.show("web", ["the pane of web"])
    async with fly(client, selected="api") as flight:
        await flight.reads("the pane of api")
        await flight.press("down")
        await flight.reads("Loading…")
        assert "the pane of api" not in flight.text()
        client.let.set()
        await flight.reads("the pane of web")


@pytest.mark.long
async def test_events_and_help_come_and_go(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("e")
        await flight.reads("crossed its act point at 142k")
        flight.client.happen("agent.idle", "importer rests", "importer")
        await flight.reads("importer  rests")
        await flight.press("e")
        await flight.until(lambda: "importer  rests" not in flight.text())
        await flight.press("question_mark")
        await flight.reads("Approve, or answer")
        await flight.press("G")
        await flight.reads("no token count yet")
        await flight.press("g")
        await flight.reads("Go to the agent's pane.")
        await flight.press("q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        await flight.press("q")
        assert flight.app._exit


async def test_an_empty_fleet_says_how_to_begin(fly: Fly) -> None:
    client = MemoryClient(Status())
    async with fly(client) as flight:
        await flight.reads("No agents yet", "no agents", "start an agent", "cockpit init")
        client.put(agent("api"))
        await flight.reads("1 working")


@pytest.mark.parametrize("width", [50, 100])
async def test_an_empty_list_without_a_supervisor_says_that_the_agents_are_unknown(
    fly: Fly, width: int
) -> None:
    client = MemoryClient(Status())
    async with fly(client, size=(width, 30)) as flight:
        await flight.reads("No agents yet")
        client.disconnect()
        await flight.reads(
            "The agents are unknown. The supervisor is not responding. Run: cockpit up"
        )
        assert "No agents yet" not in flight.text()
        client.reconnect()
        await flight.reads("No agents yet")


async def test_a_hundred_agents_scroll(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent(f"a{number}") for number in range(100)]))
    async with fly(client) as flight:
        await flight.press("G")
        assert flight.app.model.selected == "a99"
        await flight.reads("a99")
        await flight.press("g")
        await flight.reads("working 100")


async def test_the_selected_agent_stays_in_view_on_another_size(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent(f"a{number}") for number in range(100)]))
    async with fly(client, selected="a70") as flight:
        await flight.press("j", "k")
        await flight.pilot.resize_terminal(70, 18)
        await flight.until(lambda: "▌" in flight.text())
        assert flight.app.model.selected == "a70"


async def test_a_screen_without_room_for_the_pane_has_nobody_capture_it(fly: Fly) -> None:
    client = scene()
    async with fly(client, size=(60, 12)) as flight:
        await flight.press("j")
        assert flight.app.model.selected == "mailer"
        assert client.onlookers("mailer") == 0
        await flight.pilot.resize_terminal(60, 30)
        await flight.until(lambda: client.onlookers("mailer") == 1)


async def test_the_welcome_goes_with_the_first_agent(fly: Fly) -> None:
    client = MemoryClient()
    async with fly(client, size=(60, 14)) as flight:
        await flight.reads("No agents yet", "cockpit demo", "q quit")
        client.put(agent("first"))
        await flight.reads("1 working", "first")
        assert "cockpit demo" not in flight.text()


@pytest.mark.parametrize("size", [(60, 14), (100, 30)])
async def test_a_supervisor_of_another_version_is_told_of_once(
    fly: Fly, size: tuple[int, int]
) -> None:
    supervisor = SupervisorStatus(version="0.0.9")
    client = MemoryClient(Status(supervisor=supervisor, agents=[agent("api")]))
    async with fly(client, size=size) as flight:
        await flight.reads("supervisor 0.0.9")
        await flight.until(lambda: "cockpit restart" in str(flight.toasts()))
        client.disconnect()
        await flight.reads("supervisor unreachable")
        client.reconnect()
        await flight.reads("supervisor 0.0.9")
        assert len(flight.toasts()) == 1


async def test_a_remark_about_a_connection_is_shown_once(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("api")]))
    client.remark = "gpu1 has an older cockpit. Upgrade it [there]."
    async with fly(client) as flight:
        await flight.until(lambda: client.remark in str(flight.toasts()))
        (shown,) = flight.app._notifications
        assert shown.timeout >= 60  # there is a command to type
        client.disconnect()
        await flight.reads("supervisor unreachable")
        client.reconnect()
        await flight.until(lambda: "unreachable" not in flight.text())
        assert len(flight.toasts()) == 1


@pytest.mark.long
async def test_a_digit_chooses_the_cli_in_which_a_job_continues(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        await flight.press("t")
        await flight.reads(
            "In which CLI does checkout continue?",
            "1 codex  2 gemini  3 opencode  4 copilot  Esc cancel",
        )
        await flight.press("escape", "t", "f1")
        await flight.reads("Hand off to codex.")
        await flight.press("escape", "1")
        wanted = Handoff(name="checkout", to="codex")
        await flight.until(lambda: flight.client.asked == [wanted])


@pytest.mark.long
async def test_a_job_can_go_back_to_the_users_own_runtime(fly: Fly) -> None:
    moved = agent("api").model_copy(
        update={"runtime": "codex", "configured_runtime": "inhouse", "state": "idle"}
    )
    client = MemoryClient(Status(supervisor=SupervisorStatus(version="1"), agents=[moved]))
    async with fly(client, selected="api") as flight:
        await flight.press("t")
        await flight.reads("1 claude  2 gemini  3 opencode  4 copilot  5 inhouse  Esc cancel")
        await flight.press("5")
        wanted = Handoff(name="api", to="inhouse")
        await flight.until(lambda: client.asked == [wanted])


async def test_the_longest_name_is_shown_whole_where_it_is_asked_about(fly: Fly) -> None:
    name = f"{'h' * 32}/{'a' * 29}end"
    client = MemoryClient(Status(agents=[agent(name, "idle")]))
    async with fly(client, selected=name) as flight:
        for key in ("t", "s", "f"):
            await flight.press(key)
            await flight.until(lambda: isinstance(flight.app.screen, ModalScreen), key)
            title = flight.app.screen.query_one(".dialog--title", Static).content
            assert name in str(title)
            await flight.press("escape")
            await flight.until(lambda: len(flight.app.screen_stack) == 1, key)


async def test_the_command_for_other_runtimes_names_the_machine_of_the_screen(fly: Fly) -> None:
    names = ["aider", "inhouse", "third", "fourth", "fifth", "sixth"]
    can = agent("api").model_copy(update={"custom_runtimes": names, "state": "idle"})
    supervisor = SupervisorStatus(version="1")
    client = MemoryClient(Status(host="gpu1", supervisor=supervisor, agents=[can]))
    async with fly(client, selected="api") as flight:
        await flight.press("t")
        await flight.reads("In which CLI does api continue?")
        words = flight.app.screen.query_one(".dialog--words", Static).content
        assert str(words).endswith(": cockpit handoff api --host gpu1 --to RUNTIME.")


@pytest.mark.long
async def test_every_custom_runtime_is_offered(fly: Fly) -> None:
    names = ["aider", "inhouse", "third", "fourth", "fifth", "sixth"]
    can = agent("api").model_copy(update={"custom_runtimes": names, "state": "idle"})
    client = MemoryClient(Status(supervisor=SupervisorStatus(version="1"), agents=[can]))
    async with fly(client, selected="api", size=(160, 40)) as flight:
        await flight.press("t")
        await flight.reads("5 aider  6 inhouse", "7 third  8 fourth  9 fifth  Esc cancel")
        await flight.reads("Other custom runtimes: cockpit handoff api")
        await flight.press("6")
        wanted = Handoff(name="api", to="inhouse")
        await flight.until(lambda: client.asked == [wanted])


async def test_no_cli_is_chosen_once_the_document_is_written(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("t")
        await flight.until(flight.toasts)
        assert "already being handed off" in flight.toasts()[0]
        assert flight.client.asked == []


@pytest.mark.long
async def test_the_demos_guide_is_one_line_that_escape_hides(fly: Fly) -> None:
    async with fly(scene(), size=(140, 30), selected="api", tour=True) as flight:
        await flight.reads("api has written its document: press d to read it", "Esc hides this")
        await flight.press("escape")
        await flight.until(lambda: "api has written" not in flight.text(), "the next step")
        await flight.reads("mailer asks for permission to use Bash: select mailer, then press a")
        await flight.press("escape")
        await flight.reads("search is writing a document")
    async with fly(scene(), size=(140, 30), selected="api") as flight:
        await flight.reads("document ready")
        assert "hides this" not in flight.text()

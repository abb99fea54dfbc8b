"""What waits, as a list that keeps up by itself, and the one key to where it is answered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import NoSupervisor
from cockpit.tui.screens.inbox.screen import InboxScreen
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.wire.status import HeldSetting, Needs, Status
from cockpit.wire.verbs import Approve, Done, Refuse, Snooze
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def asking(name: str, command: str, since: str = "2026-11-21T20:00:00Z") -> Any:
    needs = Needs(kind="permission", detail=command, tool="Bash", command=command, since=since)
    return agent(name, "needs_you", needs=needs)


async def test_a_permission_says_what_wants_to_do_what_and_enter_goes_to_its_pane(fly: Fly) -> None:
    client = scene()
    client.show("mailer", ["Do you want to proceed?"])
    async with fly(client) as flight:
        await flight.press("i")
        await flight.reads(
            "Inbox", "1 permission · 1 review", "Bash: git push origin agent/mailer",
            "answer in the agent's pane",
            "Do you want to proceed?",
        )  # fmt: skip
        await flight.press("enter")
        await flight.until(lambda: flight.attached == ["mailer"])
        assert client.asked == []
        assert isinstance(flight.app.screen, InboxScreen)


async def test_a_review_is_read_and_answered_where_it_stands_and_the_inbox_is_there_again(
    fly: Fly,
) -> None:
    async with fly(scene(), selected="mailer") as flight:
        await flight.press("i", "j", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReviewScreen))
        await flight.reads("Handoff api", "Renew access tokens")
        await flight.press("escape")
        await flight.until(lambda: isinstance(flight.app.screen, InboxScreen))
        flight.client.change("api", handoff=None, needs=None, state="working")
        await flight.until(lambda: "review" not in flight.text(), "the answered one is gone")
        await flight.press("q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_what_comes_is_there_at_once_and_what_was_selected_stays_so(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("calm"), asking("old", "ls")]))
    async with fly(client) as flight:
        await flight.press("i")
        await flight.reads("▌ ◆ permission   old")
        client.put(asking("new", "rm -r build", "2026-11-21T20:30:00Z"))
        await flight.reads("  ◆ permission   new", "▌ ◆ permission   old", "2 permission")
        client.change("old", needs=None, state="working")
        await flight.reads("▌ ◆ permission   new", "Bash: rm -r build")


async def test_with_nothing_to_do_it_says_so_and_enter_says_why_not(fly: Fly) -> None:
    async with fly(MemoryClient(Status(agents=[agent("calm")]))) as flight:
        await flight.press("i")
        await flight.reads("nothing needs you", "New items appear here automatically")
        await flight.press("enter")
        await flight.until(flight.toasts)
        assert "Nothing needs you." in flight.toasts()[0]


async def test_without_a_supervisor_what_was_known_stays_and_says_that_it_is_old(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("i")
        await flight.reads("Bash: git push origin agent/mailer")
        flight.client.disconnect()
        await flight.reads(
            "supervisor unreachable; start it: cockpit up", "Bash: git push origin agent/mailer"
        )


async def test_without_a_supervisor_an_empty_inbox_does_not_say_that_nothing_needs_you_now(
    fly: Fly,
) -> None:
    async with fly(MemoryClient(Status(agents=[agent("calm")]))) as flight:
        await flight.press("i")
        await flight.reads("New items appear here automatically")
        flight.client.disconnect()
        await flight.reads("Nothing needed you when the supervisor last answered.")
        assert "New items" not in flight.text()


async def test_the_smallest_screen_says_too_that_no_supervisor_answers(fly: Fly) -> None:
    async with fly(scene(), size=(60, 14)) as flight:
        await flight.press("i")
        await flight.reads("Bash needs permission for:")
        flight.client.disconnect()
        await flight.reads("supervisor unreachable")


async def test_nobody_looks_at_a_pane_that_is_not_on_the_screen(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("i")
        await flight.until(lambda: flight.client.onlookers("mailer") == 1)
        await flight.until(lambda: flight.client.onlookers("api") == 0, "the fleet looks away")
        await flight.press("j", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReviewScreen))
        await flight.until(lambda: flight.client.onlookers("api") == 0)
        await flight.press("escape")
        await flight.until(lambda: flight.client.onlookers("api") == 1)


@pytest.mark.long
async def test_all_of_it_by_mouse_and_by_the_palette(fly: Fly) -> None:
    async with fly(scene()) as flight:
        titles = {each.title for each in flight.app.get_system_commands(flight.app.screen)}
        assert {"Inbox", "History"} <= titles
        await flight.press("i")
        await flight.reads("▌ ◆ permission   mailer")
        titles = {each.title for each in flight.app.get_system_commands(flight.app.screen)}
        assert "Open" in titles
        assert "Approve" not in titles
        await flight.pilot.click("#inbox", offset=(4, 1))
        await flight.reads("▌ ◆ review       api")
        await flight.pilot.click("#inbox", offset=(4, 1))
        await flight.until(lambda: isinstance(flight.app.screen, ReviewScreen))


async def test_the_palette_says_why_not_now(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("G")
        commands = list(flight.app.get_system_commands(flight.app.screen))
        said = {each.title: each.help for each in commands}
        agent = flight.app.model.selected
        assert said["Snooze"] == f"z  Not now: {agent} isn't waiting for you."
        assert said["Down"] == "j  Select the next agent."
        assert len(said) == len(commands), "one name for each"
        await flight.pilot.click("#summary", offset=(2, 0))
        await flight.until(lambda: flight.app.screen.id == "--command-palette")


def waiting(name: str, since: str, phase: str = "review") -> Any:
    handoff = {"id": f"h-{name}", "phase": phase, "since": since, "reason": "threshold"}
    needs = Needs(kind="review", detail="the document is ready", since=since)
    return agent(name, "needs_you", needs=needs, handoff=handoff)


async def test_handoffs_are_approved_refused_and_snoozed_in_the_inbox(fly: Fly) -> None:
    client = MemoryClient(
        Status(agents=[waiting("a", "2026-11-21T20:00:00Z"), waiting("b", "2026-11-21T19:00:00Z")])
    )

    def gone(verb: Any) -> Done:
        client.change(verb.name, needs=None, handoff=None, state="working")
        return Done(message="done", name=verb.name)

    client.when(Approve, gone)
    async with fly(client) as flight:
        await flight.press("i")
        await flight.reads("▌ ◆ review", "a approve", "r refuse", "z snooze")
        screen = flight.app.screen
        assert isinstance(screen, InboxScreen)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("z")
        await flight.until(lambda: client.asked)
        assert client.asked == [Snooze(name="a", handoff="h-a", seconds=600)]
        await flight.press("j")
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("r")
        await flight.until(lambda: len(client.asked) == 2)
        assert client.asked[1] == Refuse(name="b", handoff="h-b")


async def test_a_document_with_claims_not_found_is_opened_before_it_is_approved(fly: Fly) -> None:
    one = waiting("a", "2026-11-21T20:00:00Z")
    handoff = one.handoff.model_copy(update={"not_found": "1 file not found: x/y.py"})
    client = MemoryClient(Status(agents=[one.model_copy(update={"handoff": handoff})]))
    client.lay("h-a", "## Goal\n\nat last\n")
    async with fly(client, size=(100, 30)) as flight:
        await flight.press("i")
        screen = flight.app.screen
        assert isinstance(screen, InboxScreen)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("a")
        await flight.reads("at last")
        await flight.until(lambda: "Not approved yet" in str(flight.toasts()), "why")
        assert client.asked == []
        await flight.press("escape")
        await flight.until(lambda: screen.is_ready, "ready again")
        await flight.press("a")
        await flight.until(lambda: client.asked == [Approve(name="a", handoff="h-a")], "read")


async def test_the_next_item_is_not_answered_by_a_key_that_was_typed_ahead(
    fly: Fly, reading_takes: Callable[[float], None]
) -> None:
    client = MemoryClient(
        Status(agents=[waiting("a", "2026-11-21T20:00:00Z"), waiting("b", "2026-11-21T19:00:00Z")])
    )

    def gone(verb: Any) -> Done:
        reading_takes(600)
        client.change(verb.name, needs=None, handoff=None, state="working")
        return Done(message="done", name=verb.name)

    client.when(Approve, gone)
    async with fly(client) as flight:
        await flight.press("i")
        screen = flight.app.screen
        assert isinstance(screen, InboxScreen)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("a", "a", "a")
        await flight.until(lambda: screen.item is not None and screen.item.agent == "b")
        await flight.press("a")
        reading_takes(0)
        await flight.until(lambda: screen.is_ready, "ready again")
        assert client.asked == [Approve(name="a", handoff="h-a")]


async def test_keys_for_handoffs_say_why_they_do_nothing_for_another_item(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[asking("old", "ls")]))
    async with fly(client) as flight:
        await flight.press("i")
        await flight.until(lambda: isinstance(flight.app.screen, InboxScreen), "the inbox")
        await flight.reads("a answer")
        assert "z snooze" not in flight.text()
        await flight.press("r")
        await flight.until(flight.toasts)
        assert "not a handoff" in flight.toasts()[0]
        assert client.asked == []


async def test_an_untrusted_file_offers_its_step_only_until_it_is_trusted(fly: Fly) -> None:
    held = HeldSetting(file="/w/cockpit.toml", line=1, key="agents[0]", reason="it runs a program")
    client = MemoryClient(Status(held=[held]))
    async with fly(client, size=(100, 30)) as flight:
        await flight.reads("No agents yet. /w/cockpit.toml has settings that are ignored")
        await flight.reads("untrusted settings: which", "1 untrusted setting (inbox)")
        assert "cockpit init" not in flight.text()
        await flight.press("i")
        await flight.reads("Read the file, then: cockpit config trust /w/cockpit.toml")
        screen = flight.app.screen
        assert isinstance(screen, InboxScreen)
        assert not {"inbox.open", "inbox.answer"} & {action.id for action in screen.hints()}
        await flight.press("a")
        await flight.until(lambda: "cockpit config trust" in str(flight.toasts()), "the step")
        assert "not a handoff" not in str(flight.toasts())
        await flight.press("escape")
        client.hold([])
        flight.fleet._tick()
        await flight.reads("Press n to start one.", "cockpit init")
        assert "untrusted" not in flight.text()


class _SilentStatus(MemoryClient):
    """A supervisor whose stream is fine, and whose status fails while `silent`."""

    silent = False

    async def status(self) -> Status:
        if self.silent:
            raise NoSupervisor("gpu1 does not answer")
        return await super().status()


async def test_untrusted_settings_of_a_host_that_does_not_answer_stay(fly: Fly) -> None:
    def untrusted(file: str) -> list[HeldSetting]:
        return [HeldSetting(file=file, line=1, key="hosts[0]", reason="it runs a program")]

    here, there = MemoryClient(Status()), _SilentStatus(Status(held=untrusted("/far.toml")))
    client: Any = JoinedClient(here, [HostClient("gpu1", there)])
    async with fly(client) as flight:
        await flight.until(lambda: flight.app.model.parts["gpu1"].held, "the settings of gpu1")
        there.silent = True
        here.hold(untrusted("/near.toml"))
        await flight.press("i")
        await flight.reads("near.toml", "far.toml")
        assert len(flight.app.model.held) == 2

"""Dialogs answered on the screen: shown whole, in the CLI's order, by a key that was meant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from cockpit.core.errors import NotNow
from cockpit.tui.present.permission import request_lines
from cockpit.tui.present.span import plain
from cockpit.tui.screens.permission.screen import PermissionScreen
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus
from cockpit.wire.status import AgentStatus, ContextStatus, Needs, Status
from cockpit.wire.verbs import Answer, Done, Verb
from tests.client.memory import MemoryClient
from tests.tui.conftest import Flight, Fly

pytestmark = pytest.mark.anyio

COMMAND = "git push origin main && " + "echo step && " * 30 + "echo end-of-command"


def asking(name: str, kind: Any = "permission") -> AgentStatus:
    return AgentStatus(
        name=name,
        runtime="claude",
        state="needs_you",
        needs=Needs(kind=kind, detail="Bash git push", tool="Bash", command="git push"),
        pane="%1",
        pid=7,
        directory="/work",
        mode="prompt",
        strategy="handoff",
        max_handoffs=8,
        context=ContextStatus(tokens=124_000, window=200_000, used=0.62, band="notice"),
    )


def permission(identity: str = "d1", text: str = COMMAND) -> DialogStatus:
    return DialogStatus(
        identity=identity,
        title="Bash command",
        tool="Bash",
        question="Do you want to proceed?",
        notice="This command requires approval",
        text=text,
        choices=[
            ChoiceStatus(label="Yes", text="may"),
            ChoiceStatus(label="Yes, and don't ask again for: git push *"),
            ChoiceStatus(label="No", text="may"),
        ],
        highlighted=0,
    )


def boxes() -> DialogStatus:
    return DialogStatus(
        identity="q1",
        kind="question",
        title="Question",
        tool="AskUserQuestion",
        question="Which parts should be tested?",
        text="Which parts should be tested?",
        choices=[
            ChoiceStatus(label="Parser", note="Reads the input", checked=False),
            ChoiceStatus(label="Report", checked=True),
            ChoiceStatus(label="Chat about this"),
        ],
        highlighted=0,
    )


def fleet(*agents: AgentStatus) -> MemoryClient:
    return MemoryClient(Status(agents=list(agents)))


def answers(flight: Flight) -> list[Answer]:
    return [verb for verb in flight.asked if isinstance(verb, Answer)]


async def opened(flight: Flight, key: str = "a") -> PermissionScreen:
    await flight.press(key)
    await flight.until(lambda: isinstance(flight.app.screen, PermissionScreen), "the screen")
    screen = flight.app.screen
    assert isinstance(screen, PermissionScreen)
    await flight.until(lambda: screen.dialog is not None, "the dialog")
    return screen


async def test_the_whole_request_is_shown_with_the_choices_in_the_clis_order(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.reads("Bash command", "This command requires approval", "62%")
        text = flight.text()
        assert "end-of-command" in text
        at = [text.index(each) for each in ("1. Yes", "2. Yes, and don't ask again", "3. No")]
        assert at == sorted(at)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("down", "enter")
        await flight.until(lambda: answers(flight), "the answer")
        assert answers(flight) == [Answer(name="api", dialog="d1", choices=[2])]


async def test_the_choices_are_right_below_a_short_request_and_at_the_end_of_a_long_one(
    fly: Fly,
) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission(text="git push")
    async with fly(client, size=(100, 40)) as flight:
        await opened(flight)
        await flight.reads("1. Yes", "3. No")
        lines = flight.text().splitlines()
        asked = next(n for n, line in enumerate(lines) if "Do you want to proceed?" in line)
        assert [line[:8].strip() for line in lines[asked + 1 : asked + 4]] == [
            "",
            "─" * 8,
            "❯ 1. Ye",
        ]
        assert "answer" in lines[-1]
        client.dialogs["api"] = permission("d2", text="\n".join(f"echo {n}" for n in range(60)))
        client.put(asking("api", "question"))
        await flight.until(lambda: "echo 9" in flight.text(), "the long request")
        lines = flight.text().splitlines()
        assert "3. No" in lines[-2]
        assert "answer" in lines[-1]


def test_a_question_is_shown_once() -> None:
    shown = [plain(line).strip() for line in request_lines(boxes(), 80)]
    assert shown.count("Which parts should be tested?") == 1


def test_the_options_of_a_question_are_listed_once_as_its_choices() -> None:
    text = "Which parts should be tested?\n- Parser\n- Report"
    one = boxes().model_copy(update={"text": text})
    shown = [plain(line).strip() for line in request_lines(one, 80)]
    assert [line for line in shown if line] == ["Which parts should be tested?"]
    several = one.model_copy(update={"subject": "Parts · Order"})
    shown = [plain(line).strip() for line in request_lines(several, 80)]
    assert [line for line in shown if line] == ["Question Parts · Order", *text.split("\n")]


def test_no_part_of_a_long_line_is_left_out() -> None:
    command = "echo " + "".join(f"{n:05}" for n in range(11_000)) + "; rm -rf everything"
    drawn = "".join(
        plain(list(line)).strip() for line in request_lines(permission("d", command), 80)
    )
    assert "".join(command.split()) in "".join(drawn.split())


async def test_keys_typed_ahead_answer_nothing(
    fly: Fly, reading_takes: Callable[[float], None]
) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    reading_takes(600)
    async with fly(client) as flight:
        await flight.press("a", "enter", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, PermissionScreen), "the screen")
        screen = flight.app.screen
        await flight.reads("1. Yes")
        await flight.press("enter")
        assert answers(flight) == []
        reading_takes(0)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("enter")
        await flight.until(lambda: answers(flight), "the answer")


async def test_the_dialog_that_follows_is_not_answered_by_the_same_press(
    fly: Fly, reading_takes: Callable[[float], None]
) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission("d1", "touch one")

    def next_one(_: Verb) -> Done:
        client.dialogs["api"] = permission("d2", "touch two")
        reading_takes(600)
        return Done(message="answered", name="api")

    client.when(Answer, next_one)
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("enter", "enter", "enter")
        await flight.until(lambda: screen.identity == "d2", "the next dialog")
        await flight.press("enter")
        assert [one.dialog for one in answers(flight)] == ["d1"]
        reading_takes(0)
        await flight.until(lambda: screen.is_ready, "ready again")
        await flight.press("enter")
        await flight.until(lambda: len(answers(flight)) == 2, "the second answer")
        assert answers(flight)[1].dialog == "d2"


async def test_a_refused_answer_says_why_and_shows_what_is_asked_now(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission("d1", "touch one")

    def refuse(_: Verb) -> Done:
        client.dialogs["api"] = permission("d2", "rm -rf build")
        raise NotNow("api asks something else now", "No key was pressed.", "Read it.")

    client.when(Answer, refuse)
    async with fly(client, toasts=True) as flight:
        screen = await opened(flight)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("enter")
        await flight.reads("rm -rf build")
        assert any("asks something else now" in toast for toast in flight.toasts())


async def test_a_text_goes_with_the_choice_that_takes_one(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("down", "t")
        assert flight.app.screen is screen  # this choice takes none
        await flight.press("down", "t", *"use make", "enter")
        await flight.until(lambda: answers(flight), "the answer")
        assert answers(flight) == [Answer(name="api", dialog="d1", choices=[3], text="use make")]


async def test_boxes_are_checked_with_space_and_sent_together(fly: Fly) -> None:
    client = fleet(asking("api", "question"))
    client.dialogs["api"] = boxes()
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.reads("[ ] Parser", "[✓] Report", "Reads the input")
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("space")
        await flight.reads("[✓] Parser")
        await flight.press("enter")
        await flight.until(lambda: answers(flight), "the answer")
        assert answers(flight)[0].choices == [1, 2]


async def test_on_a_low_screen_the_selected_choice_is_in_sight(fly: Fly) -> None:
    client = fleet(asking("api", "question"))
    many = [ChoiceStatus(label=f"Option {n}", note=f"It is number {n}") for n in range(8)]
    client.dialogs["api"] = boxes().model_copy(update={"choices": many})
    async with fly(client, size=(60, 15)) as flight:
        await opened(flight)
        await flight.reads("❯ 1. Option 0", "Which parts")
        await flight.press(*["down"] * 7)
        await flight.reads("❯ 8. Option 7")
        await flight.press(*["up"] * 7)
        await flight.reads("❯ 1. Option 0")


async def test_several_waiting_agents_are_a_queue(fly: Fly) -> None:
    client = fleet(asking("api"), asking("docs"), asking("web"))
    for name in ("api", "docs", "web"):
        client.dialogs[name] = permission(f"d-{name}", f"deploy {name}")
    async with fly(client, selected="api") as flight:
        screen = await opened(flight)
        await flight.reads("deploy api", "1 of 3")
        await flight.press("n")
        await flight.reads("deploy docs", "2 of 3")
        await flight.press("p", "p")
        await flight.reads("deploy web", "3 of 3")

        def gone(_: Verb) -> None:
            del client.dialogs["web"]

        client.when(Answer, gone)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("enter")
        await flight.reads("deploy api")
        assert [one.name for one in answers(flight)] == ["web"]


async def test_what_cannot_be_answered_here_says_why_and_offers_the_pane(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = DialogStatus(refusal="cockpit does not recognise its dialogs")
    async with fly(client) as flight:
        await opened(flight)
        await flight.reads("cannot be answered from here", "does not recognise", "git push")
        assert "Enter answer" not in flight.text()
        assert "o pane" in flight.text()
        await flight.press("enter")
        assert answers(flight) == []
        await flight.press("o")
        await flight.until(lambda: flight.attached, "the pane")
        assert flight.attached == ["api"]


@pytest.mark.parametrize(("first", "key"), [("i", "a"), ("o", "a")])
async def test_it_opens_from_the_inbox_and_the_agent_screen(fly: Fly, first: str, key: str) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    async with fly(client) as flight:
        await flight.press(first)
        await flight.until(lambda: len(flight.app.screen_stack) == 2, "the screen")
        await opened(flight, key)
        await flight.reads("git push origin main")
        del client.dialogs["api"]
        await flight.until(lambda: not isinstance(flight.app.screen, PermissionScreen), "closed")


async def test_the_key_line_offers_only_keys_for_the_selected_choice(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    async with fly(client) as flight:
        await opened(flight)
        await flight.reads("Permission api", "Enter answer", "t text")
        assert "Space check" not in flight.text()
        await flight.press("down")
        await flight.until(lambda: "t text" not in flight.text(), "a choice without a text")
        client.dialogs["api"] = boxes()
        await flight.reads("Question api", "Space check")


async def test_a_digit_selects_the_choice_with_that_number(fly: Fly) -> None:
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("3")
        await flight.reads("❯ 3. No")
        await flight.press("9")
        await flight.reads("❯ 3. No")
        assert not answers(flight)
        await flight.press("enter")
        await flight.until(lambda: answers(flight), "the answer")
        assert answers(flight) == [Answer(name="api", dialog="d1", choices=[3])]


async def test_an_answer_that_takes_long_is_not_called_a_dialog_of_another_kind(fly: Fly) -> None:
    """The tool of the dialog runs, and its hook has not yet reported that it was allowed."""
    client = fleet(asking("api"))
    client.dialogs["api"] = permission()
    begun, over, looked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Slow(MemoryClient):
        async def ask(self, verb: Verb) -> Done:
            if isinstance(verb, Answer):
                begun.set()
                await over.wait()
            return await super().ask(verb)

        async def dialog(self, name: str) -> DialogStatus:
            found = await super().dialog(name)
            if begun.is_set():
                looked.set()
            return found

    client.__class__ = Slow
    async with fly(client) as flight:
        screen = await opened(flight)
        await flight.until(lambda: screen.is_ready, "ready")
        await flight.press("enter")
        await begun.wait()
        client.dialogs["api"] = DialogStatus(refusal="cockpit does not recognise the dialog")
        looked.clear()
        await looked.wait()
        looked.clear()
        await looked.wait()  # the response to the first one has been handled
        assert screen.dialog is not None
        assert screen.dialog.refusal is None
        del client.dialogs["api"]
        client.change("api", state="working", needs=None)
        over.set()
        await flight.until(lambda: flight.app.screen is not screen, "the screen is closed")


class _LoadsUntil(MemoryClient):
    """A supervisor whose dialogs wait for `answers`."""

    answers: asyncio.Event

    async def dialog(self, name: str) -> DialogStatus:
        await self.answers.wait()
        return await super().dialog(name)


async def test_a_key_for_a_choice_says_that_there_is_none(fly: Fly) -> None:
    client = _LoadsUntil(Status(agents=[asking("api")]))
    client.answers = asyncio.Event()
    client.dialogs["api"] = DialogStatus(refusal="it is not known")

    async def refused(reason: str) -> None:
        for key in ("t", "space"):
            flight.app.clear_notifications()
            await flight.press(key)
            await flight.until(lambda: reason in str(flight.toasts()), reason)

    async with fly(client) as flight:
        await flight.press("a")
        await flight.until(lambda: isinstance(flight.app.screen, PermissionScreen), "the screen")
        await refused("The dialog is still loading: there is no choice yet.")
        client.answers.set()
        await flight.reads("cannot be answered from here")
        await refused("There is no choice here. Press o to answer in the agent's pane.")

"""Marked agents: one question for all, an answer for each, nothing for those that are hidden."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from cockpit.core.errors import NotNow
from cockpit.wire.status import Needs, Status
from cockpit.wire.verbs import Approve, Done, Forget, Rename, Send, Start, Stop, Verb
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def three() -> MemoryClient:
    """Two agents that run, and one that has ended."""
    agents = [
        agent("api", state="working", pane="%1", pid=11),
        agent("web", state="working", pane="%2", pid=12),
        agent("old", state="exited", pane="%3", pid=None),
    ]
    return MemoryClient(Status(agents=agents))


def row(flight: Any, name: str) -> str:
    return next(line for line in str(flight.text()).splitlines() if f" {name} " in line)


async def test_one_question_lists_what_happens_to_each(fly: Fly) -> None:
    client = three()
    client.when(Stop, lambda verb: Done(message=f"Stopped {verb.name}"))  # type: ignore[attr-defined]
    async with fly(client, selected="api") as flight:
        await flight.press("g", "space", "space", "space")
        assert all("*" in row(flight, name)[:4] for name in ("api", "web", "old"))
        await flight.reads("3 marked:")
        await flight.press("x")
        await flight.reads(
            "Stop 2 of 3 marked agents?", "✗ old", "old has ended. Press n to start it."
        )
        assert flight.client.asked == []
        await flight.press("y")
        await flight.until(lambda: flight.client.asked == [Stop(name="api"), Stop(name="web")])
        await flight.reads("Stop: 2 of 3 done", "✓ api", "Stopped api", "✓ web", "✗ old")
        await flight.press("escape")
        assert flight.fleet.fleet.marked == []
        assert "marked" not in flight.text()


async def test_the_question_names_the_claims_of_a_document_that_were_not_found(fly: Fly) -> None:
    handoff = {"id": "h", "phase": "review", "since": "", "reason": "threshold",
               "not_found": "1 file not found: x/y.py"}  # fmt: skip
    client = three()
    needs = Needs(kind="review", detail="")
    client.put(agent("api", "needs_you", needs=needs, handoff=handoff))
    async with fly(client, selected="api") as flight:
        await flight.press("space", "a")
        await flight.reads("starts with the document.", "1 file not found: x/y.py")


async def test_a_refusal_is_told_of_the_agent_it_is_about(fly: Fly) -> None:
    client = three()

    def answer(verb: Verb) -> Done:
        if verb == Forget(name="old"):
            raise NotNow("Processes of old are still running (pid 7)", "", "Stop it first.")
        return Done(message="Forgot gone; its history and documents are kept")

    client.put(agent("gone", state="stopped", pane=None, pid=None))
    client.when(Forget, answer)
    async with fly(client, selected="old") as flight:
        for name in ("old", "gone"):
            flight.fleet.fleet.select(name)
            await flight.press("space")
        await flight.press("delete", "y")
        await flight.reads(
            "Forget: 1 of 2 done", "still running (pid 7). Stop it first.", "Forgot gone"
        )


async def test_no_key_acts_on_a_marked_agent_that_the_filter_hides(fly: Fly) -> None:
    async with fly(three(), selected="api") as flight:
        await flight.press("g", "space", "space", "slash", *"web", "enter")
        assert flight.fleet.fleet.marked == ["web"]
        await flight.press("x")
        await flight.reads("Stop 1 marked agent?")
        assert "api" not in "".join(line for line in flight.text().splitlines() if "Its" in line)
        await flight.press("y")
        await flight.until(lambda: flight.client.asked == [Stop(name="web")])
        await flight.press("escape", "escape")
        assert flight.fleet.fleet.marked == []
        assert flight.fleet.fleet.filter == "web"
        await flight.press("escape")
        assert flight.fleet.fleet.marked == []


async def test_a_no_leaves_the_marks_and_esc_clears_them(fly: Fly) -> None:
    async with fly(three(), selected="api") as flight:
        await flight.press("g", "space", "x", "n")
        assert flight.fleet.fleet.marked == ["api"]
        await flight.press("escape", "x")
        await flight.reads("Stop web?")
        assert flight.client.asked == []


async def test_a_prompt_goes_to_all_marked(fly: Fly) -> None:
    async with fly(three(), selected="api") as flight:
        await flight.press("g", "space", "space", "s")
        await flight.reads("Send to 2 marked agents")
        await flight.press(*"hello", "enter")
        await flight.reads("Send to 2 marked agents?", "Prompt: hello")
        await flight.press("y")
        wanted = [Send(name=name, text="hello") for name in ("api", "web")]
        await flight.until(lambda: flight.client.asked == wanted)


async def test_an_approval_is_of_the_handoff_that_was_listed(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("space")
        assert flight.fleet.fleet.marked == ["api"]
        await flight.press("a")
        await flight.reads("Approve 1 marked agent?")
        await flight.press("y")
        await flight.until(lambda: flight.client.asked == [Approve(name="api", handoff="h-api")])


async def test_a_dialog_is_not_approved_together_with_handoffs(fly: Fly) -> None:
    """What it asks was not read; the supervisor would refuse the approval, too."""
    client = scene()
    client.put(agent("db", "needs_you", needs=Needs(kind="permission", detail="Bash make")))
    client.put(agent("ui", "needs_you", needs=Needs(kind="question", detail="Which colour?")))
    async with fly(client, selected="api") as flight:
        for name in ("api", "db", "ui"):
            flight.fleet.fleet.select(name)
            await flight.press("space")
        await flight.press("a")
        await flight.reads("Approve 1 of 3 marked agents?", "✗ db: db asks for permission.")
        await flight.reads(
            "✗ ui: ui asks a question. Press a on its row, without marks, to answer."
        )
        await flight.press("y")
        await flight.until(lambda: flight.client.asked == [Approve(name="api", handoff="h-api")])


async def test_actions_without_a_plural_and_the_agents_screen_stay_with_the_selected(
    fly: Fly,
) -> None:
    async with fly(three(), selected="api") as flight:
        await flight.press("g", "space", "l")
        await flight.reads("1 pane")
        await flight.press("s")
        await flight.reads("Send to web")


async def test_an_ended_agent_is_forgotten_and_renamed(fly: Fly) -> None:
    async with fly(three(), selected="old") as flight:
        await flight.press("delete")
        await flight.reads("Forget old?", "The history, documents and worktree")
        await flight.press("y")
        await flight.until(lambda: flight.client.asked == [Forget(name="old")])
        flight.client.forget("old")
        await flight.until(lambda: flight.app.model.selected == "api", "another is selected")
        flight.client.put(agent("old", state="exited", pane="%3", pid=None))
        await flight.until(lambda: "old" in flight.fleet.fleet.names)
        flight.fleet.fleet.select("old")
        await flight.press("f2", "enter")
        await flight.reads("Type the new name.")
        await flight.press(*"Bad", "enter")
        await flight.reads("begin with a letter or digit")
        await flight.press("ctrl+u", *"older", "enter")
        await flight.until(lambda: flight.client.asked[1:] == [Rename(name="old", to="older")])


async def test_a_running_agent_can_be_neither_forgotten_nor_renamed(fly: Fly) -> None:
    async with fly(three(), selected="api", keys={"stop": "K"}) as flight:
        for key in ("delete", "f2"):
            await flight.press(key)
            await flight.until(flight.toasts)
            assert "api is running. Press K to stop it first." in flight.toasts()[-1]
        assert flight.client.asked == []


async def test_a_duplicate_has_the_settings_and_a_free_name(fly: Fly) -> None:
    client = three()
    client.change(
        "api",
        mode="auto",
        worktree="/srv/trees/api",
        directory="/srv/api",
        configured_directory="/srv/api",
    )
    client.put(agent("api-2", state="stopped", pane=None, pid=None))
    async with fly(client, selected="api", directory=Path("/srv/shop")) as flight:
        await flight.press("N")
        await flight.reads("api-3", "/srv/api", "‹ auto ›")
        await flight.press("ctrl+s")
        wanted = Start(
            name="api-3", directory="/srv/api", mode="auto", runtime="claude", worktree=True
        )
        await flight.until(lambda: flight.asked == [wanted], "the start")

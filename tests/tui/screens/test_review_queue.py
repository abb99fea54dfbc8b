"""Several questions that wait: gone through one by one, each answered for what was seen."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from cockpit.core.errors import Failed
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.wire.status import HandoffStatus, Needs, Status
from cockpit.wire.verbs import Approve, Verb
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def three() -> MemoryClient:
    """The scene, with two more agents whose documents wait."""
    client = scene()
    for name in ("blog", "cart"):
        waits = HandoffStatus(
            id=f"h-{name}", reason="manual", phase="review", since="", document=f"/{name}.md"
        )
        needs = Needs(kind="review", detail="waits")
        client.put(agent(name, "needs_you", handoff=waits, needs=needs))
        client.lay(f"h-{name}", f"## Goal\n\nthe goal of {name}\n")
    return client


async def test_next_and_previous_go_round_and_say_where_they_are(fly: Fly) -> None:
    async with fly(three()) as flight:
        await flight.press("d")
        await flight.reads("Handoff api", "1 of 3", "n next")
        await flight.press("n")
        await flight.reads("Handoff blog", "2 of 3", "the goal of blog")
        await flight.press("p", "p")
        await flight.reads("Handoff cart", "3 of 3", "the goal of cart")
        await flight.press("n")
        await flight.reads("Handoff api", "1 of 3")
        assert len(flight.app.screen_stack) == 2


async def test_an_answer_is_for_the_one_on_the_screen_and_approves_no_other(fly: Fly) -> None:
    """A held key must not go through the queue."""

    client = three()

    def answered(verb: Verb) -> None:
        assert isinstance(verb, Approve)
        client.change(verb.name, handoff=None, needs=None, state="working")

    client.when(Approve, answered)
    async with fly(client) as flight:
        await flight.press("d", "n")
        await flight.reads("Handoff blog", "2 of 3")
        await flight.press("a")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        (verb,) = client.asked
        assert isinstance(verb, Approve)
        assert (verb.name, verb.handoff) == ("blog", "h-blog")


async def test_the_queue_keeps_up_and_one_alone_has_no_next(fly: Fly) -> None:
    client = three()
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("1 of 3")
        client.change("cart", handoff=None, needs=None, state="working")
        await flight.reads("1 of 2")
        client.change("blog", handoff=None, needs=None, state="working")
        await flight.until(lambda: "1 of 2 " not in flight.text())
        assert "n next" not in flight.text()
        await flight.press("n")
        await flight.until(flight.toasts)
        assert "No other handoffs are waiting for you." in flight.toasts()[0]
        assert isinstance(flight.app.screen, ReviewScreen)


async def test_gits_word_stands_beside_claims_and_what_the_successor_is_told_under_it(
    fly: Fly,
) -> None:
    client = scene()
    facts = "## Verified Facts\n\n- commit `9f1c2d3e4b` add the margin\n"
    client.lay("h-api", f"---\nagent: api\n---\n## Progress\n\n- commit `9f1c2d3`\n\n{facts}")
    client.continue_with("api", "Read \x1b[31mit first.\n\n## Goal\n\n<b>x</b>")
    async with fly(client, size=(100, 45)) as flight:
        await flight.press("d")
        await flight.reads(
            "✓ 1 commit · ", "9f1c2d3 ✓", "Prompt of the New Session", "Read it first.",
            "<b>x</b>",
        )  # fmt: skip


async def test_what_the_user_said_and_the_document_does_not_is_one_key_away(fly: Fly) -> None:
    client = scene()
    client.lay(
        "h-api", '---\nagent: "api"\nwriter: "agent"\n---\n## Progress\n\nThe margin is there.\n'
    )
    orders = [
        {"turn": 41, "text": "Sign every \x1b[31mcommit with the release key."},
        {"turn": 3, "text": "The margin is there."},
    ]
    client.know("api", {"constraints": orders, "usage": {"transcript": "/t"}})
    async with fly(client, size=(100, 45)) as flight:
        await flight.press("d")
        await flight.reads("1 point not found (m)")
        assert "Sign every" not in flight.text()
        await flight.press("m")
        await flight.reads(
            "Not Found in This Document",
            'the user\'s order of turn 41: "Sign every commit with the release key."',
        )
        await flight.press("m")
        await flight.until(lambda: "Sign every" not in flight.text())


async def test_a_document_without_gaps_or_without_facts_counts_none(fly: Fly) -> None:
    client = scene()
    text = '---\nagent: "api"\nwriter: "agent"\n---\n## Progress\n\nThe margin is there.\n'
    client.lay("h-api", text)
    orders = [{"turn": 3, "text": "The margin is there."}]
    client.know("api", {"constraints": orders, "usage": {"transcript": "/t"}})
    async with fly(client, size=(100, 45)) as flight:
        await flight.press("d")
        await flight.until(lambda: flight.app.screen.uncompared == "")
        await flight.press("m")
        await flight.until(flight.toasts)
        assert "not found" not in flight.text()
        assert "No missing or contradicted points" in flight.toasts()[0]


class SlowFacts(MemoryClient):
    """A supervisor whose facts wait for `answers`, and fail while `fails`."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.answers = asyncio.Event()
        self.fails = True

    async def facts(self, name: str) -> dict[str, Any]:
        await self.answers.wait()
        if self.fails:
            raise Failed("The transcript cannot be read")
        return await super().facts(name)


async def test_why_no_points_are_listed_is_told_apart_from_that_there_are_none(fly: Fly) -> None:
    client = SlowFacts(Status(agents=[scene().agent("api")]))
    client.know("api", {"usage": {"transcript": "/t"}})
    text = '---\nagent: "api"\nwriter: "agent"\n---\n## Progress\n\nThe margin is there.\n'
    client.lay("h-api", text)

    async def said(key: str, text: str) -> None:
        flight.app.clear_notifications()
        await flight.press(key)
        await flight.until(lambda: text in str(flight.toasts()), text)

    async with fly(client, size=(100, 45), selected="api") as flight:
        await flight.press("d")
        await flight.reads("The margin is there.", "Approving ends this session")
        await said("m", "being compared with the session. Press m again in a moment.")
        client.answers.set()
        await flight.until(lambda: "failed" in flight.app.screen.uncompared, "a failure")
        client.fails = False
        await said("m", "The transcript cannot be read. Comparing again. Press m again in")
        await flight.until(lambda: flight.app.screen.uncompared == "")
        await said("m", "No missing or contradicted points found.")


async def test_a_document_from_facts_says_that_it_is_not_compared(fly: Fly) -> None:
    client = scene()
    client.lay("h-api", '---\nagent: "api"\nwriter: "facts"\n---\n## Progress\n\nA margin.\n')
    async with fly(client, size=(100, 45)) as flight:
        await flight.press("d")
        await flight.reads("A margin.", "Approving ends this session")
        await flight.press("m")
        await flight.until(flight.toasts)
        assert "cockpit wrote this document from the session's facts" in flight.toasts()[0]


async def test_an_answer_is_for_the_shown_agent_while_another_is_selected(fly: Fly) -> None:
    async with fly(three()) as flight:
        await flight.press("d")
        await flight.reads("Handoff api", "Approving ends this session")
        flight.app.model.select("checkout")
        await flight.press("a")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        (verb,) = flight.client.asked
        assert isinstance(verb, Approve)
        assert verb.name == "api"

"""The document and its question: rendered harmlessly, answered for exactly what was seen."""

from __future__ import annotations

import asyncio
import hashlib
import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from cockpit.core.errors import BadUsage, NotNow
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.tui.widgets.document import plain_parser
from cockpit.wire.verbs import Approve, Handoff, Refuse, Snooze, Verb
from tests.client.memory import MemoryClient
from tests.tui.scene import DOCUMENT, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


async def test_the_document_and_what_is_known_of_it_are_there(fly: Fly) -> None:
    async with fly(scene(), size=(100, 45)) as flight:
        await flight.press("d")
        await flight.reads(
            "Handoff api", "because its context is filling", "by the agent · 142k of 200k",
            "at 9f1c2d3e", "Renew access tokens", "Approving ends this session",
            "Verified Facts",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "verb"),
    [
        ("r", Refuse(name="api", handoff="h-api")),
        ("z", Snooze(name="api", handoff="h-api")),
        ("Z", Snooze(name="api", handoff="h-api", percent=10)),
        ("c", Refuse(name="api", handoff="h-api", compact=True)),
    ],
)
async def test_an_answer_is_given_to_the_handoff_that_was_seen(
    fly: Fly, key: str, verb: Verb
) -> None:
    async with fly(scene()) as flight:
        await flight.press("d", key)
        await flight.until(lambda: flight.client.asked == [verb])
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_a_yes_is_to_the_document_that_is_shown(fly: Fly) -> None:
    client = scene()
    client.lay("h-api", "## Goal\n\nshown first\n")
    changed = NotNow("The handoff document of api has changed since it was shown")
    client.refuse(Approve, changed)
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("shown first")
        client.lay("h-api", "## Goal\n\nanother one\n")
        await flight.press("a")
        await flight.reads("another one")
        assert "has changed since it was shown" in flight.toasts()[0]
        client.when(Approve, lambda _: None)
        await flight.press("a")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        answers = [each for each in client.asked if isinstance(each, Approve)]
        assert [each.sha256 for each in answers] == [
            hashlib.sha256(f"## Goal\n\n{words}\n".encode()).hexdigest()
            for words in ("shown first", "another one")
        ]


async def test_a_refused_answer_leaves_the_document_there(fly: Fly) -> None:
    client = scene()
    client.refuse(Approve, NotNow("not now", "two handoffs are under way"))
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("Approving ends this session")
        await flight.press("a")
        await flight.until(lambda: "two handoffs are under way" in str(flight.toasts()))
        assert isinstance(flight.app.screen, ReviewScreen)


async def test_why_an_edit_was_refused_stays_until_the_document_is_another(fly: Fly) -> None:
    client = scene()
    reasons = "Next Steps says nothing.\nA fence is open."
    refused = BadUsage("The edited document is not complete", reasons, "Mend it.")
    client.refuse(Approve, refused)
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("Approving ends this session")
        await flight.press("a")
        await flight.reads(
            "The edited document is not complete", "Next Steps says nothing.",
            "A fence is open.", "Press e to edit",
        )  # fmt: skip
        assert "Approving ends this session" not in flight.text()
        assert not flight.toasts()

        client.lay("h-api", "## Goal\n\nmended\n")
        await flight.press("e")
        await flight.reads("mended", "Approving ends this session")
        assert "not complete" not in flight.text()


async def test_before_the_agent_was_asked_the_draft_says_that_it_is_one(fly: Fly) -> None:
    client = scene()
    api = client.agent("api")
    assert api.handoff
    assert api.needs
    client.change(
        "api",
        handoff=api.handoff.model_copy(update={"phase": "asked"}),
        needs=api.needs.model_copy(update={"kind": "handoff"}),
    )
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("Hand off?", "The agent has not been asked yet")
        await flight.press("e")
        await flight.until(flight.toasts)
        assert "only while it is in review" in flight.toasts()[0]
        await flight.press("A")
        wanted = Approve(name="api", handoff="h-api", straight=True)
        await flight.until(lambda: flight.client.asked == [wanted])


@pytest.mark.long
async def test_what_changes_while_the_document_is_drawn_never_ends_the_screen(fly: Fly) -> None:
    """Each phase has the document fetched anew, and an answer closes the screen amid of it."""
    for pauses in (0, 1, 2, 4, 8, 16):
        client = scene()
        api = client.agent("api")
        assert api.handoff
        async with fly(client) as flight:
            await flight.press("d")
            await flight.reads("Renew access tokens")
            for phase in ("documenting", "stopping", "starting", "confirming"):
                handoff = api.handoff.model_copy(update={"phase": phase})
                client.change("api", handoff=handoff, needs=None, state="handing_off")
                for _ in range(pauses):
                    await asyncio.sleep(0)
            client.change("api", handoff=None, state="working")
            await flight.until(lambda: len(flight.app.screen_stack) == 1)
            await flight.press("question_mark")
            await flight.reads("Go to the agent's pane")
            assert flight.app.is_running


async def test_the_keys_are_told_and_a_question_answered_meanwhile_closes(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("d")
        await flight.reads("Approving ends this session")
        await flight.press("f1")
        await flight.reads("Edit the document in your editor.")
        flight.client.change("api", handoff=None, needs=None, state="working")
        await flight.press("q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_a_question_that_was_answered_elsewhere_closes(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("d")
        await flight.reads("Approving ends this session")
        flight.client.change("api", handoff=None, needs=None, state="working")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)
        await flight.until(flight.toasts)
        assert "no longer open" in flight.toasts()[0]


async def test_a_supervisor_that_goes_away_leaves_the_document_readable(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("d")
        await flight.reads("Renew access tokens")
        flight.client.disconnect()
        await flight.until(lambda: not flight.app.model.connection.live)
        await flight.press("a")
        await flight.until(flight.toasts)
        assert "Renew access tokens" in flight.text()
        await flight.press("escape")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_a_document_that_cannot_be_had_is_said(fly: Fly) -> None:
    client = scene()
    client._documents.clear()
    async with fly(client) as flight:
        await flight.press("d")
        await flight.until(flight.toasts)
        assert "There is no handoff" in flight.toasts()[0]


async def test_a_terminal_that_cannot_be_given_to_the_editor_is_said(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("d", "e")
        await flight.until(flight.toasts)
        assert flight.edited == list[tuple[Path, int]]()
        assert isinstance(flight.app.screen, ReviewScreen)


async def test_the_editor_opens_at_the_first_section(
    fly: Fly, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fly(scene()) as flight:
        await flight.press("d")
        await flight.reads("Renew access tokens")
        monkeypatch.setattr(type(flight.app._driver), "can_suspend", property(lambda _: True))
        await flight.press("e")
        await flight.until(lambda: flight.edited, "the editor")
        (_, line) = flight.edited[0]
        assert DOCUMENT.splitlines()[line - 1] == "## Goal"


LONG = " ".join(f"word{i}" for i in range(40))
UNBROKEN = "".join(f"{i}," for i in range(100, 150))


@pytest.mark.parametrize(
    "block",
    [
        f"```sh\n{LONG}\n```",
        f"```\n{UNBROKEN}\n```",
        f"    {LONG}",
        f"`{UNBROKEN}`",
        f"- a\n  - b\n\n    ```\n    {LONG}\n    ```",
        f"| a | b |\n| - | - |\n| {LONG} | {LONG} |",
        f"# {LONG}",
        f"[x]: {UNBROKEN}",
        f"[x]: http://a.example '{LONG}'",
    ],
    ids=["fence", "unbroken", "indented", "code", "in-list", "table", "h1", "reference", "title"],
)
async def test_all_of_a_document_can_be_seen(fly: Fly, block: str) -> None:
    """Whoever approves it must have been able to read it: nothing is cut off at the edge."""

    client = scene()
    client.lay("h-api", f"## Goal\n\nbegins\n\n{block}\n\n## Next Steps\n\n1. ends\n")
    async with fly(client, size=(60, 60)) as flight:
        await flight.press("d")
        await flight.reads("begins", "ends")
        seen = "".join(flight.text().split())
        for word in re.findall(r"word\d+|1\d\d,", block):
            assert word in seen or word in re.sub("[│┃]", "", seen)


async def test_a_long_document_is_moved_by_the_keys_of_every_long_text(fly: Fly) -> None:
    client = scene()
    client.lay("h-api", "## Goal\n\n" + "\n\n".join(f"line {at}" for at in range(90)))
    async with fly(client, size=(60, 15)) as flight:
        await flight.press("d")
        await flight.reads("line 0")
        body = flight.app.screen.query_one("#document")
        await flight.until(lambda: body.max_scroll_y > 90, "the whole document")
        for key, at in (("j", 1), ("down", 2), ("k", 1), ("G", body.max_scroll_y), ("g", 0)):
            await flight.press(key)
            await flight.until(lambda at=at: body.scroll_y == at)
        await flight.press("space")
        await flight.until(lambda: body.scroll_y > 1)
        await flight.press("?")
        await flight.reads("Scroll down.")


@pytest.mark.parametrize(
    "hostile",
    [
        "[a](javascript:1)", "![a](http://x/y.png)", "<script>x</script>", "<http://x.example>",
        "https://x.example", "[@click=app.quit]go[/]",
    ],
)  # fmt: skip
def test_nothing_in_a_document_is_a_link_an_image_or_html(hostile: str) -> None:
    tokens = plain_parser().parse(hostile)
    kinds = {child.type for token in tokens for child in (token.children or [token])}
    assert kinds <= {"text", "paragraph_open", "paragraph_close", "text_special"}


class Slow(MemoryClient):
    """A supervisor that gives a document out when it is let."""

    def __init__(self, like: MemoryClient) -> None:
        super().__init__()
        self.__dict__.update(like.__dict__)
        self.let = asyncio.Event()
        self.let.set()

    async def document(self, handoff: str) -> str:
        await self.let.wait()
        return await super().document(handoff)


def shown(words: str) -> str:
    return hashlib.sha256(f"## Goal\n\n{words}\n".encode()).hexdigest()


async def test_nobody_agrees_to_a_document_that_is_not_there_yet(fly: Fly) -> None:
    client = Slow(scene())
    client.lay("h-api", "## Goal\n\nat last\n")
    client.let.clear()
    async with fly(client) as flight:
        await flight.press("d", "a")
        await flight.until(lambda: "oading; press" in str(flight.toasts()))
        await flight.press("A")
        assert client.asked == []
        client.let.set()
        await flight.reads("at last")
        await flight.press("a")
        await flight.until(lambda: client.asked, "the answer")
        assert client.asked == [Approve(name="api", handoff="h-api", sha256=shown("at last"))]


async def test_coming_back_from_the_editor_nobody_agrees_to_what_was_there_before(fly: Fly) -> None:
    client = Slow(scene())
    client.lay("h-api", "## Goal\n\nbefore\n")
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("before")
        client.let.clear()
        client.lay("h-api", "## Goal\n\nedited\n")
        await flight.press("e")
        await flight.until(flight.toasts, "back from where no editor can be had")
        await flight.press("a")
        await flight.until(lambda: "oading; press" in str(flight.toasts()))
        assert client.asked == []
        client.let.set()
        await flight.reads("edited")
        await flight.until(lambda: "Saved. cockpit checks" in str(flight.toasts()))
        await flight.press("a")
        await flight.until(lambda: client.asked, "the answer")
        assert client.asked == [Approve(name="api", handoff="h-api", sha256=shown("edited"))]


async def test_marks_of_an_edited_line_are_shown_as_not_checked(fly: Fly) -> None:
    client = scene()
    mark = "(unverified: neither in the worktree nor in git)"
    text = f"## Done\n\n- src/old.py {mark}\n- src/gone.py {mark}\n\n## Verified Facts\n\nNone.\n"
    client.lay("h-api", text)
    async with fly(client) as flight:
        await flight.press("d")
        await flight.reads("src/old.py ✗ (not found)")
        client.lay("h-api", text.replace("old.py", "new.py"))
        await flight.press("e")
        await flight.reads(
            "src/new.py ? (not checked since your edit)", "src/gone.py ✗ (not found)"
        )


async def test_a_question_can_be_answered_with_another_cli(fly: Fly) -> None:
    client = scene()
    handoff = client.agent("api").handoff
    assert handoff is not None
    client.change("api", handoff=handoff.model_copy(update={"phase": "asked"}))
    async with fly(client) as flight:
        await flight.press("d", "t", "1")
        wanted = Handoff(name="api", to="codex", handoff="h-api")
        await flight.until(lambda: flight.asked == [wanted])

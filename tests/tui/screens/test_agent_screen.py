"""One agent's screen: what each key shows, when something is read, and what silence costs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest

from cockpit.core.errors import Failed
from cockpit.tui.screens.agent.screen import AgentScreen
from cockpit.tui.screens.permission.screen import PermissionScreen
from cockpit.tui.screens.review.reading import ReadingScreen
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.wire.course import Course
from cockpit.wire.diff import DiffFile, WorktreeDiff
from cockpit.wire.status import Status
from cockpit.wire.verbs import Handoff, Send
from tests.client.memory import MemoryClient
from tests.long_cases import cases
from tests.tui.scene import agent, context, scene
from tests.tui.scene_history import chain, handoff, session
from tests.tui.scene_sessions import DIFF, FACTS, course, readings, stretch
from tests.tui.screens.test_permission_screen import permission
from tests.tui.test_hostile import HOSTILE, QUITS, SETS_THE_CLIPBOARD, draws_nothing_hostile


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


async def opened(flight: Any, *keys: str) -> AgentScreen:
    """The screen of the agent that is selected, after some more keys."""
    await flight.press("o", *keys)
    screen = flight.app.screen
    assert isinstance(screen, AgentScreen)
    return screen


def read(flight: Any, what: str) -> int:
    """How often something was asked of the supervisor."""
    return len([each for each, _ in flight.client.looked_up if each == what])


@pytest.mark.parametrize(
    ("key", "words"),
    cases(
        ("2", ("#1 142k → 45k", "completed", "#2 142k", "now", "compacts 167k")),
        ("4", ("3 files changed, 1 new file", "── src/auth.py ──", "uncommitted")),
        long=[
            ("1", ("pytest -q tests/auth", "act 140k")),
            ("3", ("goal", "Renew access tokens", "● Use Auth.refresh", "Add TokenMargin")),
            ("5", ("crossed its act point",)),
        ],
    ),
)
async def test_each_section_has_its_key(fly: Fly, key: str, words: tuple[str, ...]) -> None:
    async with fly(scene(), size=(100, 34), selected="api") as flight:
        await opened(flight, key)
        await flight.reads("142k/200k", "session 2 (max 4)")
        for word in words:
            await flight.until(lambda word=word: word in " ".join(flight.text().split()), word)
        assert "search is asked" not in flight.text()


async def test_keys_that_need_a_running_agent_name_a_key_that_starts_it(fly: Fly) -> None:
    said = "Press n in the list of agents to start it."
    async with fly(scene(), size=(100, 34), selected="cron") as flight:
        await opened(flight)
        for key in ("s", "f", "enter"):
            flight.app.clear_notifications()
            await flight.press(key)
            await flight.until(lambda: said in str(flight.toasts()), key)


@pytest.mark.long
async def test_sections_go_round_and_can_be_clicked(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        screen = await opened(flight)
        seen = [screen.section]
        for _ in range(5):
            await flight.press("tab")
            seen.append(screen.section)
        assert seen == ["pane", "course", "facts", "diff", "events", "pane"]
        await flight.press("shift+tab")
        assert screen.section == "events"
        at = screen.query_one("#agent-tabs").region
        await flight.pilot.click(offset=(at.x + 4, at.y))
        await flight.until(lambda: screen.section == "pane")
        for key in ("q", "escape", "left"):
            await flight.press(key)
            await flight.until(lambda: len(flight.app.screen_stack) == 1)
            await flight.press("right")
            await flight.until(lambda: len(flight.app.screen_stack) == 2)


async def test_where_there_is_room_the_section_stands_beside_the_pane(fly: Fly) -> None:
    async with fly(scene(), size=(200, 60), selected="api") as flight:
        await opened(flight)
        await flight.reads("pytest -q tests/auth", "compacts 167k", "Renew access tokens")


async def test_enter_reads_the_document_of_the_chosen_session_or_goes_into_the_pane(
    fly: Fly,
) -> None:
    async with fly(scene(), selected="api") as flight:
        screen = await opened(flight, "2")
        await flight.until(lambda: len(screen.chain.keys) == 2)
        await flight.press("k", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReadingScreen))
        await flight.reads("has no margin yet")
        await flight.press("n")
        await flight.until(flight.toasts)
        await flight.press("q", "1", "enter")
        await flight.until(lambda: flight.attached == ["api"])
        await flight.press("d")
        await flight.until(lambda: isinstance(flight.app.screen, ReviewScreen))


async def test_a_session_that_left_nothing_says_so(fly: Fly) -> None:
    client = scene()
    client.change("checkout", job="job-checkout", session_id=session(1).id)
    client.remember([chain("checkout", session(1))])
    async with fly(client, selected="checkout") as flight:
        screen = await opened(flight, "2")
        await flight.until(lambda: len(screen.chain.keys) == 1)
        await flight.press("enter")
        await flight.until(flight.toasts)
        assert "Session #1 has no document" in flight.toasts()[0]


@pytest.mark.long
async def test_only_what_is_looked_at_is_read_and_silence_asks_nothing(fly: Fly) -> None:
    client = scene()
    client.change("api", activity="Read src/session.py")
    async with fly(client, selected="api") as flight:
        await opened(flight)
        await flight.until(lambda: read(flight, "course") == 1)
        assert (read(flight, "facts"), read(flight, "diff")) == (0, 0)
        await flight.press("4")
        await flight.reads("3 files changed")
        before = list(flight.client.looked_up)
        flight.client.change("checkout", activity="Edit other.py")
        flight.client.change("api", activity="Read src/auth.py")
        flight.client.happen("agent.started", "checkout was started", "checkout")
        await flight.press("1", "4", "1", "4")
        await flight.pilot.pause()
        assert flight.client.looked_up == before


async def test_what_the_agent_wrote_is_read_again_and_r_reads_at_once(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await opened(flight, "4")
        await flight.reads("3 files changed")
        client.differ("api", DIFF.model_copy(update={"untracked": ["a", "b"]}))
        client.change("api", activity="Bash make")
        await flight.reads("3 files changed, 2 new files")
        client.differ("api", DIFF.model_copy(update={"untracked": []}))
        await flight.press("r")
        await flight.until(lambda: "new file" not in flight.text())
        client.differ("api", DIFF.model_copy(update={"of_job": True}))
        await flight.press("b")
        await flight.reads("since the job began")
        await flight.press("b")
        await flight.reads("uncommitted")


async def test_a_reading_is_drawn_without_asking_anybody(fly: Fly) -> None:
    client = scene()
    client.change("api", needs=None, handoff=None, state="working")
    async with fly(client, selected="api") as flight:
        screen = await opened(flight, "2")
        await flight.until(lambda: screen.lookups.course is not None)
        asked = read(flight, "course")
        client.change("api", context=context(147_500))
        await flight.reads("#2  148k")
        assert screen.lookups.course is not None
        assert screen.lookups.course.stretches[-1].points[-1].tokens == 147_500
        assert read(flight, "course") == asked
        client.happen("agent.compacted", "api was compacted", "api")
        await flight.until(lambda: read(flight, "course") == asked + 1)


async def test_only_one_pane_is_looked_at_and_its_past_when_it_is_scrolled(fly: Fly) -> None:
    client = scene()
    client.show("api", [f"line {number}" for number in range(200)])
    async with fly(client, selected="api") as flight:
        await flight.until(lambda: client.onlookers("api") == 1)
        screen = await opened(flight)
        await flight.until(lambda: screen.pane.max_scroll_y > 0, "the pane")
        await flight.reads("line 199")
        assert client.onlookers("api") == 1
        await flight.press("pageup")
        await flight.until(lambda: "line 199" not in flight.text())
        await flight.press("g")
        await flight.reads("line 0")
        await flight.press("pageup")
        await flight.until(lambda: screen._history_lines > 0)
        await flight.press("G")
        await flight.reads("line 199")
        await flight.press("q")
        await flight.until(lambda: client.onlookers("api") == 1)
        client.show("api", ["another line"])
        await flight.reads("another line")


async def test_lines_that_come_leave_what_is_read_where_it_is(fly: Fly) -> None:
    client = scene()
    client.show("api", [f"line {number}" for number in range(100)])
    async with fly(client, selected="api", size=(60, 15)) as flight:
        screen = await opened(flight)
        await flight.reads("line 99")
        await flight.press("pageup")
        await flight.until(lambda: "line 99" not in flight.text())
        from_end = screen.pane.virtual_size.height - screen.pane.scroll_offset.y
        client.show("api", [f"line {number}" for number in range(-50, 100)])
        await flight.until(lambda: screen.pane.virtual_size.height == 150)
        assert 150 - screen.pane.scroll_offset.y == from_end


async def test_a_supervisor_that_goes_away_leaves_what_was_read(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await opened(flight, "4")
        await flight.reads("3 files changed")
        client.disconnect()
        await flight.reads("supervisor unreachable", "start it: cockpit up", "3 files changed")
        await flight.press("3", "r", "2")
        client.reconnect()
        await flight.until(lambda: "supervisor unreachable" not in flight.text())
        await flight.press("3")
        await flight.reads("Renew access tokens")


async def test_a_section_that_was_never_read_says_why_it_cannot_be(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await opened(flight, "1")
        await flight.reads("session 2 (max 4)")
        client.disconnect()
        await flight.reads("supervisor unreachable")
        for section in ("3", "4"):
            await flight.press(section)
            await flight.reads("  The supervisor is not responding. Run: cockpit up")
        assert "Reading…" not in flight.text()


@pytest.mark.long
async def test_what_cannot_be_read_is_said_and_who_is_gone_too(fly: Fly) -> None:
    class Broken(MemoryClient):
        async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
            raise Failed("git took too long", "The disk is slow.")

    client = Broken(Status(agents=[agent("api"), agent("web")]))
    async with fly(client, selected="api") as flight:
        await opened(flight, "4")
        await flight.until(flight.toasts)
        assert "git took too long" in flight.toasts()[0]
        await flight.reads("git took too long. The disk is slow.")
        client.forget("api")
        await flight.reads("is no longer listed")
        await flight.press("1", "2", "3", "4", "5", "r", "b", "enter")
        await flight.press("q")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_nothing_is_drawn_while_nothing_changes(fly: Fly) -> None:
    async with fly(scene(), size=(200, 60), selected="api") as flight:
        screen = await opened(flight)
        await flight.reads("compacts 167k", "Renew access tokens")
        await flight.pilot.pause()
        drawn_lines: list[object] = []
        for widget in screen.walk_children():
            whole = widget.refresh

            def noted(*regions: Any, _whole: Any = whole, **how: Any) -> Any:
                drawn_lines.append(regions)
                return _whole(*regions, **how)

            widget.refresh = noted  # type: ignore[method-assign]
        flight.client.change("checkout", activity="Edit x")
        flight.client.put(flight.client.agent("api"))
        flight.client.happen("band.crossed", "checkout", "checkout")
        await flight.until(lambda: flight.app.model.main.last_event == 4)
        screen._draw()
        await flight.pilot.pause()
        assert drawn_lines == []


async def test_what_is_not_possible_with_its_cli_is_below_the_chain(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("api", runtime="codex"), agent("web")]))
    limits = ["Compaction delayed to save facts: a hook could only end the turn", "Cost: unknown"]
    client.chart(Course(agent="api", stretches=[stretch(1, readings(90_000))], limits=limits))
    async with fly(client, size=(100, 30), selected="api") as flight:
        await opened(flight, "2")
        told = f"Not possible with codex: {'; '.join(limits)}"
        await flight.until(lambda: told in " ".join(flight.text().split()), told)
    async with fly(client, size=(100, 30), selected="web") as flight:
        screen = await opened(flight, "2")
        await flight.until(lambda: screen.lookups.course is not None)
        assert "Not possible" not in flight.text()


def hostile(text: str) -> MemoryClient:
    one = agent(
        "api", activity=text, branch=text, model=text, note=text, worktree=text, job="j",
        session_id=session(2).id,
    )  # fmt: skip
    client = MemoryClient(Status(agents=[one]))
    client.show("api", [text, f"\x1b[41m{text}"])
    client.chart(
        Course(
            agent="api",
            stretches=[
                stretch(1, [], unknown=text, state=text),
                stretch(2, readings(90_000), session=text),
            ],
            limits=[text, f"{text}: {text}"],
        )
    )
    papers = handoff("h", text, text, document=text, writer=text)
    sessions = [session(1, papers, state=text, started_at=text, ended_at=text), session(2)]
    client.remember([chain("api", *sessions, goal=text).model_copy(update={"job": "j"})])
    client.lay("h", text)
    client.know("api", {**FACTS, "goal": text, "git_status": text, "files_modified": [text]})
    part = f"diff --git a/{text} b/{text}\n@@ -1 +1,2 @@ {text}\n-{text}\n+{text}\n"
    files = [*DIFF.files, DiffFile(path=text, added=1, removed=2)]
    client.differ(
        "api",
        DIFF.model_copy(update={"text": part, "files": files, "since": text, "untracked": [text]}),
    )
    client.happen(text, text, "api", at=text)
    return client


@pytest.mark.parametrize(
    "text",
    cases(
        SETS_THE_CLIPBOARD,
        QUITS,
        long=[text for text in HOSTILE if text not in (SETS_THE_CLIPBOARD, QUITS)],
    ),
    ids=range(len(HOSTILE)),
)
async def test_nothing_of_it_draws_what_it_must_not(fly: Fly, text: str) -> None:
    sizes = [(60, 15), (200, 60)]
    async with fly(hostile(text), size=sizes[0], selected="api") as flight:
        await opened(flight)
        for keys in (("1",), ("2",), ("3",), ("4",), ("5",), ("2", "g", "enter"), ("q",)):
            await flight.press(*keys)
            await draws_nothing_hostile(flight, sizes, keys)
        assert flight.app._exit is False


async def test_a_course_that_is_known_of_nobody_is_left_alone(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("cron", "stopped", None)]))
    client.chart(course("cron").model_copy(update={"stretches": []}))
    async with fly(client, selected="cron") as flight:
        await opened(flight, "2")
        await flight.reads("No token count yet.", "No session yet.")
        await flight.press("enter")
        await flight.until(flight.toasts)


async def test_keys_act_on_the_shown_agent_while_another_is_selected(fly: Fly) -> None:
    client = scene()
    asking = permission()
    client.dialogs["mailer"] = asking
    async with fly(client, selected="mailer") as flight:
        await opened(flight)
        flight.app.model.select("checkout")
        await flight.press("enter")
        await flight.until(lambda: flight.attached)
        assert flight.attached == ["mailer"]
        await flight.press("a")
        await flight.until(lambda: isinstance(flight.app.screen, PermissionScreen))
        await flight.until(lambda: flight.app.screen.dialog == asking)
        flight.app.model.select("checkout")
        await flight.press("o")
        await flight.until(lambda: flight.attached == ["mailer", "mailer"])
        await flight.press("q")
        flight.app.model.select("checkout")
        await flight.press("f", "y")
        await flight.until(lambda: Handoff(name="mailer") in flight.asked)
        await flight.press("s", "h", "i", "enter")
        await flight.until(lambda: Send(name="mailer", text="hi") in flight.asked)
        assert {verb.name for verb in flight.asked} == {"mailer"}


async def test_keys_for_an_agent_that_was_forgotten_do_nothing_to_the_next_one(fly: Fly) -> None:
    client, gone = scene(), "docs is not in the list of agents. Press q to go back."
    async with fly(client, selected="docs") as flight:
        await opened(flight)
        client.forget("docs")
        await flight.until(lambda: flight.app.model.selected not in {None, "docs"})
        for key in ("enter", "a", "f", "s", "t", "u", "d"):
            flight.app.clear_notifications()
            await flight.press(key)
            await flight.until(lambda: gone in str(flight.toasts()), key)
            assert isinstance(flight.app.screen, AgentScreen)
        assert not flight.attached
        assert not flight.asked
        entries = flight.app.get_system_commands(flight.app.screen)
        assert gone in {entry.title: entry.help for entry in entries}["Send"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("/srv/my shop/a.md", "run: cockpit continue '/srv/my shop/a.md'"),
        (None, "There is no document to continue from."),
    ],
)
async def test_the_command_that_continues_names_the_document_as_one_word(
    fly: Fly, document: str | None, said: str
) -> None:
    client = scene()
    left = handoff("h-api-1", "2026-11-21T20:00:00Z", document=document)
    client.remember([chain("api", session(1, left, handoff="h-api-1"), session(2))])
    async with fly(client, selected="api") as flight:
        screen = await opened(flight, "2")
        await flight.until(lambda: len(screen.chain.keys) == 2)
        await flight.press("k", "enter")
        await flight.until(lambda: isinstance(flight.app.screen, ReadingScreen))
        await flight.press("n")
        await flight.until(flight.toasts)
        assert flight.toasts()[0].endswith(said)

"""Copilot CLI itself, from its start to a handoff and back. The model is simulated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.own_command import SERVER
from cockpit.core.prompt_files import prompt_files
from cockpit.demo.conversation import (
    DOCUMENT_PATH,
    ApiError,
    Reply,
    Request,
    TokenCount,
    ToolCall,
)
from cockpit.demo.model import Answer
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Adopt, Handoff, Send, Stop
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.cli_model import (
    SLOW,
    bash,
    idle_with,
    made_with_models,
    say,
    swapped,
)
from tests.supervisor.journeys.copilot_pilot import COPILOT, WINDOW, CopilotPilot
from tests.supervisor.journeys.tool_calls import calls_tools, hand_off_by_tool
from tests.supervisor.journeys.user_terminal import listed, user_terminal

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PROMPT = re.compile(r"Read the file \S+ and do what it says\.")

pytestmark = [
    pytest.mark.long,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(COPILOT is None, reason="copilot is not installed: make clis"),
]


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[Callable[[Answer], CopilotPilot]]:
    yield from made_with_models(CopilotPilot, cockpit)


def worker(steps: Callable[[Request], Reply]) -> Answer:
    """A model that opens its prompt, reads a document that is named in it, writes the one that is
    asked for, and otherwise does its steps."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply(DOCUMENT if request.asks_for_answer else "<summary>Steps.</summary>")
        done = request.calls_made
        if not done:
            (prompt,) = prompt_files(PROMPT.search(request.opening)[0])  # type: ignore[index]
            return Reply(tool_calls=(ToolCall("Read", {"file_path": prompt}),))
        named = DOCUMENT_PATH.findall(request.everything)
        if len(done) == 1 and named:
            return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),))
        if request.document_asked is not None:
            call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=70_000))
        return say("Written.") if request.documents_written else steps(request)

    return answer


def long_turn(request: Request) -> Reply:
    """A turn that fills the context, in the first session only."""
    if has_read_a_document(request):
        return say("Done.")
    number = len(request.calls_made)
    return bash(f"sleep 0.2; echo step {number}", min(70_000, 20_000 * number))


async def test_its_tokens_are_read_as_the_model_counted_them(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_001)))
    async with cockpit.flying(flown.table()):
        started = await cockpit.start()
        row = await cockpit.until(idle_with(TokenCount(cache_read=30_001)), within=SLOW)
        assert (row.context.window, row.context.confidence) == (WINDOW, "reported")
        assert row.context.compacts_at == 0.8 * WINDOW
        assert row.model == "lab"
        words = Path(f"/proc/{started.pid}/cmdline").read_bytes()
        assert b"Count the steps" not in words
        assert "!Count the steps." in flown.model.requests[-1].latest


async def test_a_handoff_in_a_long_turn_swaps_the_session_and_the_next_one_reads_the_document(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(long_turn))
    async with cockpit.flying(flown.table("auto")):
        first = await cockpit.start()
        second = await cockpit.until(swapped, within=SLOW)
        assert (second.pane, second.directory) == (first.pane, first.directory)
        assert second.pid != first.pid
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
        paper = str(chain.sessions[0].document)
        assert "Watch the server." in Path(paper).read_text()
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        await cockpit.until(lambda _: flown.has_read(paper), within=SLOW)
        assert second.transcript != chain.sessions[0].transcript
        await cockpit.ask(Stop(name="api"))


async def test_an_error_of_the_api_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    failed = Reply(error=ApiError(400, "invalid_request_error", "No such thing"))
    flown = pilot(worker(lambda request: failed))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "failed"
        assert "No such thing" in row.needs.detail


async def test_a_session_goes_on_after_a_stop(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_000)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start(resume="last", prompt="Go on.")
        after = await cockpit.until(
            lambda row: row.state == "idle" and PROMPT.search(flown.model.requests[-1].latest),
            within=SLOW,
        )
        assert (after.session_id, after.transcript) == (before.session_id, before.transcript)
        assert after.session_number == 1


async def test_a_folder_that_is_not_trusted_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.")))
    flown.trust()
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert "trust" in row.needs.detail


async def test_a_permission_dialog_is_told_and_answered(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    def steps(request: Request) -> Reply:
        if len(request.calls_made) > 1:
            return say("Done.")
        return bash("touch once")

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table(permission="acceptEdits")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.tool) == ("permission", "Bash")
        assert row.needs.command == "touch once"

        def answered(row: AgentStatus) -> bool:
            """The hook runs before the dialog is drawn, and keys before that are lost."""
            if row.needs:
                cockpit.tmux("send-keys", "-t", row.pane or "", "Enter")
            return row.state == "idle" and not row.needs

        await cockpit.until(answered, within=SLOW)


async def test_the_document_asks_for_no_permission(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_000)))
    async with cockpit.flying(flown.table("auto", permission="default")):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        row = await cockpit.until(lambda row: swapped(row) or row.needs, within=SLOW)
        assert row.needs is None
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"


async def test_an_interrupted_turn_is_idle(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: bash("sleep 60")))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        pane = row.pane or ""

        def shows(words: str) -> Callable[[AgentStatus], bool]:
            return lambda _: words in cockpit.tmux("capture-pane", "-p", "-t", pane)

        await cockpit.until(shows("esc interrupt"), within=SLOW)

        def idle(row: AgentStatus) -> bool:
            """Escape counts only when it is pressed twice."""
            if row.state != "idle":
                cockpit.tmux("send-keys", "-t", pane, "Escape")
            return row.state == "idle"

        await cockpit.until(idle, within=SLOW)


async def test_now_interrupts_a_turn_that_goes_on(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    ended = cockpit.home / "ended"

    def steps(request: Request) -> Reply:
        return say("Done.") if request.documents_named else bash(f"sleep 100; touch {ended}")

    flown = pilot(worker(steps))
    more = "[agents.handoff]\ndeadline = '150s'\n"
    async with cockpit.flying(flown.table("auto", more)):
        row = await cockpit.start()
        pane = row.pane or ""
        await cockpit.until(
            lambda _: "sleep 100" in cockpit.tmux("capture-pane", "-p", "-t", pane), within=SLOW
        )
        await cockpit.ask(Handoff(name="api", now=True))
        await cockpit.until(swapped, within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        assert not ended.exists()


async def test_a_supervisor_that_died_in_a_handoff_finishes_it(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(long_turn))
    await cockpit.launch(flown.table("auto"))
    await cockpit.start()
    await cockpit.until(lambda row: row.handoff, within=SLOW)
    cockpit.kill()
    await cockpit.launch()
    await cockpit.until(swapped, within=SLOW)
    (chain,) = await cockpit.client.history("api")
    paper = str(chain.sessions[0].document)
    await cockpit.until(lambda _: flown.has_read(paper), within=SLOW)


async def test_a_compaction_is_seen(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    def steps(request: Request) -> Reply:
        number = len(request.calls_made)
        if number > 12:
            return say("Done.", tokens=9_000)
        return bash("sleep 0.3", 20_000 * number if number < 5 else 9_000)

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table("observe")):
        await cockpit.start()
        row = await cockpit.until(
            lambda row: row.compactions and idle_with(TokenCount(cache_read=9_000))(row),
            within=SLOW,
        )
        assert row.compactions == 1
        assert row.context.compacts_at == 0.8 * WINDOW


async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    asked_inside: list[str] = []

    def steps(request: Request) -> Reply:
        if has_read_a_document(request):
            return say("Done.")
        if any(call.name == "task" for call in request.calls_made):
            return say("All is well.", tokens=80_000)
        given = {
            "description": "look",
            "prompt": "SUBTASK: look",
            "agent_type": "general-purpose",
            "name": "look",
        }
        return Reply(tool_calls=(ToolCall("task", given),), tokens=TokenCount(cache_read=70_000))

    def answer(request: Request) -> Reply:
        if request.has_tools and "SUBTASK" in request.opening:
            if request.document_asked:
                asked_inside.append(request.document_asked)
            if request.replies_made < 6:
                return bash(f"sleep 0.5; echo inside {request.replies_made}", 5_000)
            return say("The subtask is done.", tokens=6_000)
        return main(request)

    main = worker(steps)
    flown = pilot(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.conduct.subagents, within=SLOW)
        row = await cockpit.until(lambda row: row.handoff, within=SLOW)
        last = TokenCount(cache_read=70_000)
        assert row.context.tokens == last.context + last.output  # not the subagent's
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert not agent.session_state.conduct.subagents
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"


async def test_a_usage_limit_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    limited = Reply(error=ApiError(429, "rate_limit_error", "Usage limit reached"))
    flown = pilot(worker(lambda request: limited))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "usage_limit"


async def test_a_copy_writes_the_document_where_the_agent_is_not_asked(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_000)))
    more = "[agents.handoff]\nwriters = ['sdk', 'facts']\ndeadline = '150s'\n"
    async with cockpit.flying(flown.table("auto", more)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(swapped, within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "sdk"


async def test_it_ends_politely_and_leaves_nothing(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    flown = pilot(worker(lambda request: bash("sleep 61")))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        pane = row.pane or ""
        await cockpit.until(
            lambda _: "esc interrupt" in cockpit.tmux("capture-pane", "-p", "-t", pane), within=SLOW
        )
        await cockpit.ask(Stop(name="api"))
        assert cockpit.living(row) == []


async def test_it_is_offered_the_tools_and_calls_them_without_a_question(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot]
) -> None:
    prefix = f"{SERVER}-"
    flown = pilot(
        worker(calls_tools(prefix, cockpit.repository / "README.md", second=has_read_a_document))
    )
    table = flown.table("auto", permission="acceptEdits")
    await hand_off_by_tool(cockpit, flown.model, table, prefix)


def has_read_a_document(request: Request) -> bool:
    return any(call.is_about_document and call.name == "Read" for call in request.calls_made)


async def test_a_session_that_the_user_started_is_listed_and_adopted(
    cockpit: Cockpit, pilot: Callable[[Answer], CopilotPilot], monkeypatch: pytest.MonkeyPatch
) -> None:
    flown = pilot(lambda request: say("Done.", tokens=30_000))
    for name, text in flown.environment().items():
        monkeypatch.setenv(name, text)
    async with cockpit.flying(flown.table()) as supervisor:
        assert await supervisor.elsewhere.rows() == []
        program = cockpit.home / "bin" / "copilot"
        with user_terminal(cockpit, f"{program} -i 'Keep a word.'") as tmux:
            row = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
            assert (row.runtime, row.directory) == ("copilot", str(cockpit.repository))
            assert (row.goal, row.refusal) == ("Keep a word.", None)
            last = TokenCount(cache_read=30_000)
            tokens = last.context + last.output
            assert (row.context.tokens, row.context.window) == (tokens, WINDOW)

            await cockpit.ask(Adopt(session=row.session_id, name="mine"))
            mine = await cockpit.until(lambda row: row.pid and row.state == "idle", "mine")
            assert (mine.session_id, mine.transcript) == (row.session_id, row.transcript)
            assert (mine.runtime, mine.goal) == ("copilot", "Keep a word.")
            assert "cockpit attach mine" in tmux("capture-pane", "-p")
            assert await supervisor.elsewhere.rows() == []
            pane = mine.pane or ""
            await cockpit.until(
                lambda _: "Done." in cockpit.tmux("capture-pane", "-p", "-t", pane),
                "mine",
                within=SLOW,
            )
            await cockpit.ask(Send(name="mine", text="And another."))
            await cockpit.until(
                lambda _: any(
                    "Keep a word." in each.everything and "And another." in each.everything
                    for each in flown.model.requests
                ),
                "mine",
                within=SLOW,
            )

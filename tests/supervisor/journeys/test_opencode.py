"""opencode itself, from its start to a handoff and back. The model is simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.own_command import SERVER
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
from tests.supervisor.journeys.opencode_pilot import OPENCODE, REPLY, WINDOW, OpencodePilot
from tests.supervisor.journeys.tool_calls import calls_tools, hand_off_by_tool
from tests.supervisor.journeys.user_terminal import listed, user_terminal

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


pytestmark = [
    pytest.mark.long,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(OPENCODE is None, reason="opencode is not installed: make clis"),
]


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[Callable[[Answer], OpencodePilot]]:
    yield from made_with_models(OpencodePilot, cockpit)


def worker(steps: Callable[[Request], Reply]) -> Answer:
    """A model that reads a document that its prompt names, writes the one that is asked for, and
    otherwise does its steps."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply(DOCUMENT if request.asks_for_answer else "A title")
        done = request.calls_made
        named = DOCUMENT_PATH.findall(request.opening)
        if not done and named:
            return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),))
        if request.document_asked is not None:
            call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=70_000))
        return steps(request)

    return answer


def long_turn(request: Request) -> Reply:
    """A turn that fills the context, in the first session only."""
    if request.documents_named:
        return say("Done.")
    number = len(request.calls_made) + 1
    return bash(f"sleep 0.2; echo step {number}", min(80_000, 20_000 * number))


async def test_its_tokens_are_read_as_the_model_counted_them(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_001)))
    async with cockpit.flying(flown.table()):
        started = await cockpit.start()
        row = await cockpit.until(idle_with(TokenCount(cache_read=30_001)), within=SLOW)
        assert (row.context.window, row.context.confidence) == (WINDOW, "reported")
        assert row.context.compacts_at == WINDOW - REPLY
        assert row.model == "lab/large"
        words = Path(f"/proc/{started.pid}/cmdline").read_bytes()
        assert b"Count the steps" not in words
        opening = flown.model.requests[-1].opening
        assert opening.startswith("!Count the steps.\n")


async def test_a_handoff_in_a_long_turn_swaps_the_session_and_the_next_one_reads_the_document(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
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
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
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
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    flown = pilot(worker(lambda request: say("Done.", tokens=30_000)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start(resume="last", prompt="Go on.")
        after = await cockpit.until(
            lambda row: row.state == "idle" and "Go on." in flown.model.requests[-1].latest,
            within=SLOW,
        )
        assert (after.session_id, after.transcript) == (before.session_id, before.transcript)
        assert after.session_number == 1


async def test_a_permission_dialog_is_told_and_answered(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    def steps(request: Request) -> Reply:
        return say("Done.") if request.calls_made else bash("echo once")

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table(permission="acceptEdits")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.tool) == ("permission", "Bash")
        assert row.needs.command == "echo once"

        def answered(row: AgentStatus) -> bool:
            """The hook runs before the dialog is drawn, and keys before that are lost."""
            if row.needs:
                cockpit.tmux("send-keys", "-t", row.pane or "", "Enter")
            return row.state == "idle" and not row.needs

        await cockpit.until(answered, within=SLOW)


async def test_the_document_asks_for_no_permission(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
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
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    flown = pilot(worker(lambda request: bash("sleep 60")))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        pane = row.pane or ""

        def shows(words: str) -> Callable[[AgentStatus], bool]:
            return lambda _: words in cockpit.tmux("capture-pane", "-p", "-t", pane)

        await cockpit.until(shows("sleep 60"), within=SLOW)

        def idle(row: AgentStatus) -> bool:
            """Escape counts only when it is pressed twice within some seconds."""
            if row.state != "idle":
                cockpit.tmux("send-keys", "-t", pane, "Escape")
            return row.state == "idle"

        await cockpit.until(idle, within=SLOW)


async def test_now_interrupts_a_turn_that_goes_on(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    # A path outside the directory would open a permission dialog instead.
    begun, ended = cockpit.repository / "begun", cockpit.repository / "ended"

    def steps(request: Request) -> Reply:
        if request.documents_named:
            return say("Done.")
        return bash("touch begun; sleep 100; touch ended")

    flown = pilot(worker(steps))
    more = "[agents.handoff]\ndeadline = '150s'\n"
    async with cockpit.flying(flown.table("auto", more)):
        await cockpit.start()
        await cockpit.until(lambda _: begun.exists(), within=SLOW)
        await cockpit.ask(Handoff(name="api", now=True))
        await cockpit.until(swapped, within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        assert not ended.exists()
        assert "agent.needs_you" not in [event.kind for event in await cockpit.events()]


async def test_a_supervisor_that_died_in_a_handoff_finishes_it(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
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
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    def steps(request: Request) -> Reply:
        if "What did we do so far?" in request.opening:
            return say("Done.", tokens=9_000)
        return bash("echo on", [20_000, 60_000, 93_000][min(2, len(request.calls_made))])

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table("observe")):
        await cockpit.start()
        row = await cockpit.until(
            lambda row: row.compactions and idle_with(TokenCount(cache_read=9_000))(row),
            within=SLOW,
        )
        assert row.compactions == 1


async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    asked_inside: list[str] = []

    def steps(request: Request) -> Reply:
        if request.documents_named:
            return say("Done.")
        if any(call.name == "task" for call in request.calls_made):
            return say("All is well.", tokens=80_000)
        given = {"description": "look", "prompt": "SUBTASK: look", "subagent_type": "general"}
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
        # The token count arrives after the subagent, so no threshold is crossed before its end.
        await cockpit.ask(Handoff(name="api"))
        last = TokenCount(cache_read=70_000)
        tokens = last.context + last.output  # not the subagent's
        await cockpit.until(lambda row: row.context.tokens == tokens, within=SLOW)
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert not agent.session_state.conduct.subagents
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"


async def test_a_usage_limit_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    limited = Reply(error=ApiError(429, "rate_limit_error", "Usage limit reached"))
    flown = pilot(worker(lambda request: limited))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "usage_limit"


async def test_a_copy_writes_the_document_where_the_agent_is_not_asked(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
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
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    flown = pilot(worker(lambda request: bash("sleep 61")))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        pane = row.pane or ""
        await cockpit.until(
            lambda _: "sleep 61" in cockpit.tmux("capture-pane", "-p", "-t", pane), within=SLOW
        )
        await cockpit.ask(Stop(name="api"))
        assert cockpit.living(row) == []


async def test_it_is_offered_the_tools_and_calls_them_without_a_question(
    cockpit: Cockpit, pilot: Callable[[Answer], OpencodePilot]
) -> None:
    prefix = f"{SERVER}_"
    flown = pilot(
        worker(
            calls_tools(
                prefix,
                cockpit.repository / "README.md",
                second=lambda request: bool(request.documents_named),
            )
        )
    )
    settings = json.loads(flown.settings.read_text())
    flown.settings.write_text(json.dumps({**settings, "permission": {"*": "ask", "read": "allow"}}))
    await hand_off_by_tool(cockpit, flown.model, flown.table("auto"), prefix)


async def test_a_session_that_the_user_started_is_listed_and_adopted(
    cockpit: Cockpit,
    pilot: Callable[[Answer], OpencodePilot],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flown = pilot(lambda request: say("Done.", tokens=30_000))
    for name, text in flown.environment().items():
        monkeypatch.setenv(name, text)
    async with cockpit.flying(flown.table()) as supervisor:
        assert await supervisor.elsewhere.rows() == []
        program = cockpit.home / "bin" / "opencode"
        with user_terminal(cockpit, f"{program} --prompt 'Keep a word.'") as tmux:
            row = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
            assert (row.runtime, row.directory) == ("opencode", str(cockpit.repository))
            assert (row.goal, row.refusal) == ("Keep a word.", None)
            last = TokenCount(cache_read=30_000)
            # The database does not have the size of the model's window.
            assert row.context.tokens == last.context + last.output
            assert (row.context.confidence, row.model) == ("assumed", "lab/large")

            await cockpit.ask(Adopt(session=row.session_id, name="mine"))
            mine = await cockpit.until(
                lambda row: row.pid and row.context.tokens, "mine", within=SLOW
            )
            assert mine.session_id == row.session_id
            assert (mine.runtime, mine.goal) == ("opencode", "Keep a word.")
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

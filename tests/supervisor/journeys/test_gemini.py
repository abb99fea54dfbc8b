"""Gemini CLI itself, from its start to a handoff and back. The model is simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.prompt_files import prompt_files_in
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
from cockpit.wire.verbs import Adopt, Approve, Handoff, Send, Stop
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.cli_model import SLOW, bash, say, swapped
from tests.supervisor.journeys.gemini_pilot import GEMINI, GeminiPilot
from tests.supervisor.journeys.user_terminal import listed, user_terminal

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

WINDOW = 1_048_576
MARKS = "[agents.context]\nact = '60k'\n"

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(GEMINI is None, reason="gemini is not installed: make clis"),
]


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[Callable[..., GeminiPilot]]:
    made: list[GeminiPilot] = []

    def make(answer: Answer, *, linked: bool = True) -> GeminiPilot:
        made.append(GeminiPilot(cockpit, answer))
        if linked:
            made[-1].link()
        return made[-1]

    yield make
    for each in made:
        each.model.stop()


def worker(steps: Callable[[int], Reply]) -> Answer:
    """A model that opens its prompt, reads a document that is named in it, writes the one that is
    asked for, and otherwise does its steps."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply("<state_snapshot>All steps so far.</state_snapshot>")
        done = request.calls_made
        named = DOCUMENT_PATH.findall(request.everything)
        if request.is_compacted or "<state_snapshot>" in request.opening:
            return steps(len(done))
        if not done:
            return bash(f"cat {prompt_files_in(request.everything)[0]}")
        if len(done) == 1 and named:
            return bash(f"cat {named[-1]}")
        if request.told_to_end:
            return say("The document is written.", tokens=80_000)
        if request.document_asked is not None:
            call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=70_000))
        return steps(len(done))

    return answer


def idle_with(tokens: int) -> Callable[[AgentStatus], bool]:
    """A hook tells that a turn is over before the last reply is read from the record."""
    return lambda row: row.state == "idle" and row.context.tokens == tokens


def shows(cockpit: Cockpit, row: AgentStatus, text: str) -> bool:
    return text in cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")


@pytest.mark.long
async def test_its_tokens_are_read_as_the_model_counted_them(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000 + number)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        tokens = TokenCount(cache_read=30_001).context
        row = await cockpit.until(idle_with(tokens), within=SLOW)
        assert (row.context.window, row.context.confidence) == (WINDOW, "derived")
        assert (row.context.compacts_at, row.context.compacts_at_source) == (524_288, "formula")
        assert row.model == "gemini-2.5-pro"
        assert row.transcript == str(flown.records()[0])
        assert row.note is None
        words = Path(f"/proc/{row.pid}/cmdline").read_bytes()
        assert b"Count the steps" not in words
        assert b"--session-id" in words


@pytest.mark.long
async def test_a_handoff_swaps_its_session_and_the_next_one_reads_it_and_goes_on_after_a_stop(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    def steps(number: int) -> Reply:
        if len(flown.records()) > 1:
            return say("Done.")
        return bash(f"sleep 0.2; echo step {number}", min(80_000, 20_000 * number))

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table("auto", MARKS)):
        first = await cockpit.start()
        second = await cockpit.until(swapped, within=SLOW)
        assert (second.pane, second.directory) == (first.pane, first.directory)
        assert second.pid != first.pid
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
        paper = str(chain.sessions[0].document)
        assert "Watch the server." in Path(paper).read_text()
        await cockpit.until(lambda _: flown.has_read(paper), within=SLOW)
        assert second.transcript != chain.sessions[0].transcript

        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start(resume="last", prompt="Go on.")
        after = await cockpit.until(lambda row: row.state == "idle" and row.pid, within=SLOW)
        assert (after.session_id, after.transcript) == (before.session_id, before.transcript)
        assert after.session_number == 2
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
async def test_it_starts_in_a_worktree_of_a_trusted_checkout(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    """Gemini itself would ask about the folder, because its trust does not cover worktrees."""
    # Gemini sometimes loses the output of a faster command.
    flown = pilot(worker(lambda number: bash("pwd; sleep 1") if number < 2 else say("Done.")))
    trees = json.dumps(str(cockpit.home / "trees"))
    tree = f"[agents.worktree]\nstrategy = 'git_worktree'\ndirectory = {trees}\n"
    async with cockpit.flying(flown.table(more=tree)):
        await cockpit.start()
        row = await cockpit.until(
            lambda row: row.state == "idle" and row.context.tokens, within=SLOW
        )
        assert row.worktree is not None
        assert cockpit.repository not in Path(row.worktree).parents
        assert row.activity == "Bash pwd; sleep 1"
        assert f"Output: {row.worktree}" in flown.model.requests[-1].everything


@pytest.mark.long
async def test_an_error_of_the_api_is_told_and_a_usage_limit_that_only_the_screen_tells(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    errors = [
        ApiError(400, "invalid_request_error", "No such thing"),
        ApiError(429, "rate_limit_error", "Used up. Please retry in 3600s"),
    ]
    flown = pilot(lambda request: Reply(error=errors[0]))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, "No such thing" in row.needs.detail) == ("failed", True)

        del errors[0]
        await cockpit.ask(Send(name="api", text="And now?"))
        row = await cockpit.until(
            lambda row: row.needs and row.needs.kind == "usage_limit", within=SLOW
        )
        assert row.needs is not None
        assert row.needs.resets_at is not None


async def test_a_prompt_in_a_folder_that_is_not_trusted_is_refused(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.")), linked=False)
    flown.trust()
    async with cockpit.flying(flown.table()):
        with pytest.raises(NotNow, match="Gemini does not trust"):
            await cockpit.start()
        assert not flown.model.requests
        await cockpit.start(prompt="")
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert "trust" in row.needs.detail


async def test_a_permission_dialog_is_answered_or_escaped_and_a_turn_is_interrupted(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    commit = bash("git commit --allow-empty -m x")
    replies = [commit]
    flown = pilot(worker(lambda number: replies.pop() if replies else say("Done.")))

    def press(row: AgentStatus, key: str) -> None:
        cockpit.tmux("send-keys", "-t", row.pane or "", key)

    async with cockpit.flying(flown.table().replace("bypassPermissions", "acceptEdits")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.tool) == ("permission", "Bash")
        assert row.needs.command == "git commit --allow-empty -m x"
        await cockpit.until(lambda _: shows(cockpit, row, "Allow once"), within=SLOW)
        press(row, "Enter")
        await cockpit.until(lambda row: row.state == "idle" and not row.needs, within=SLOW)

        # No hook and no line of the transcript tells that it was escaped, only the pane's title.
        replies.append(commit)
        await cockpit.ask(Send(name="api", text="And once more."))
        await cockpit.until(lambda row: row.needs, within=SLOW)
        await cockpit.until(lambda _: shows(cockpit, row, "Allow once"), within=SLOW)
        press(row, "Escape")
        await cockpit.until(lambda row: row.state == "idle" and not row.needs, within=SLOW)

        replies.append(bash("sleep 60"))
        await cockpit.ask(Send(name="api", text="Sleep."))
        await cockpit.until(lambda row: row.needs and row.needs.command == "sleep 60", within=SLOW)
        await cockpit.until(lambda _: shows(cockpit, row, "Allow once"), within=SLOW)
        press(row, "Enter")
        await cockpit.until(
            lambda row: row.state == "working" and row.activity and not row.needs, within=SLOW
        )
        await cockpit.until(
            lambda _: shows(cockpit, row, "sleep 60") and not shows(cockpit, row, "Allow once"),
            within=SLOW,
        )
        press(row, "C-c")
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)


@pytest.mark.long
async def test_a_supervisor_that_was_away_knows_the_session_again_and_continues_a_handoff(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)))
    await cockpit.launch(flown.table())
    await cockpit.start()
    before = await cockpit.until(idle_with(31_003), within=SLOW)
    cockpit.kill()
    await cockpit.launch()
    after = await cockpit.until(idle_with(31_003), within=SLOW)
    assert (after.pid, after.transcript) == (before.pid, before.transcript)

    await cockpit.ask(Handoff(name="api"))
    await cockpit.until(lambda row: row.needs and row.needs.kind == "review", within=SLOW)
    await cockpit.ask(Approve(name="api"))
    cockpit.kill()
    await cockpit.launch()
    row = await cockpit.until(swapped, within=SLOW)
    (chain,) = await cockpit.client.history("api")
    paper = str(chain.sessions[0].document)
    await cockpit.until(lambda _: flown.has_read(paper), within=SLOW)
    assert row.session_number == 2


@pytest.mark.long
async def test_without_the_extension_it_works_by_its_record_and_its_title(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)), linked=False)
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(idle_with(31_003), within=SLOW)
        assert "cockpit setup gemini" in (row.note or "")
        await cockpit.ask(Send(name="api", text="And once more."))
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review", within=SLOW)
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(swapped, within=SLOW)


@pytest.mark.long
async def test_a_copy_writes_the_document_where_the_agent_is_not_asked(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    work = worker(lambda number: say("Done.", tokens=30_000))

    def answer(request: Request) -> Reply:
        return Reply(DOCUMENT) if request.asks_for_answer else work(request)

    flown = pilot(answer)
    more = "[agents.handoff]\nwriters = ['sdk', 'facts']\n"
    async with cockpit.flying(flown.table("auto", more)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(swapped, within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "sdk"
        assert len(flown.records()) == 2


@pytest.mark.long
async def test_a_compaction_is_seen_and_its_point_learned_and_the_next_prompt_has_the_facts(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    def steps(number: int) -> Reply:
        return say("Done.", tokens=530_000 if number else 9_000)

    flown = pilot(worker(steps))
    more = "strategy = 'compact'\n[agents.context]\nact = '900k'\nforce = '950k'\n"
    async with cockpit.flying(flown.table("prompt", more)):
        await cockpit.start()
        await cockpit.until(idle_with(531_003), within=SLOW)
        await cockpit.ask(Send(name="api", text="Go on."))
        await cockpit.until(lambda row: row.compactions, within=SLOW)
        assert "compacted its context" in (await cockpit.event("agent.compacted")).text
        row = await cockpit.until(
            lambda row: row.context.tokens == 10_003 and row.context.compacts_at_source == "seen",
            within=SLOW,
        )
        assert row.context.compacts_at == 524_288
        assert row.compactions == 1

        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Send(name="api", text="And again."))
        given = await cockpit.event("facts.given", within=SLOW)
        # The record has the prompt before the model has it.
        await cockpit.until(
            lambda _: given.data["token"] in flown.model.requests[-1].everything, within=SLOW
        )


@pytest.mark.long
async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot]
) -> None:
    asked_inside: list[str] = []

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply("A title")
        if "SUBTASK" in request.opening:
            if request.document_asked:
                asked_inside.append(request.document_asked)
            if request.replies_made < 6:
                return bash(f"sleep 0.3; echo inside {request.replies_made}", 5_000)
            return Reply(tool_calls=(ToolCall("complete_task", {"response": "All is well."}),))
        if request.replies_made == 1 and len(flown.records()) == 1:
            given = {"agent_name": "generalist", "prompt": "SUBTASK: look"}
            return Reply(
                tool_calls=(ToolCall("invoke_agent", given),), tokens=TokenCount(cache_read=80_000)
            )
        return main(request)

    main = worker(lambda number: say("Done."))
    flown = pilot(answer)
    async with cockpit.flying(flown.table("auto", MARKS)):
        await cockpit.start()
        await cockpit.until(lambda row: row.handoff, within=SLOW)
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"


@pytest.mark.long
async def test_a_session_that_the_user_started_is_listed_and_adopted(
    cockpit: Cockpit, pilot: Callable[..., GeminiPilot], monkeypatch: pytest.MonkeyPatch
) -> None:
    flown = pilot(lambda request: say("Done.", tokens=30_000))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(flown.folder))
    monkeypatch.setenv("GEMINI_API_KEY", "made up")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", flown.model.url)
    async with cockpit.flying(flown.table()) as supervisor:
        assert await supervisor.elsewhere.rows() == []
        program = cockpit.home / "bin" / "gemini"
        # As a user starts it: a second process of Gemini is the one that works.
        with user_terminal(cockpit, f"{program} -m gemini-2.5-pro -i 'Keep a word.'") as tmux:
            row = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
            assert (row.runtime, row.directory) == ("gemini", str(cockpit.repository))
            assert (row.goal, row.refusal) == ("Keep a word.", None)
            assert row.context.tokens == TokenCount(cache_read=30_000).context
            assert (row.context.window, row.model) == (WINDOW, "gemini-2.5-pro")
            assert row.transcript == str(flown.records()[0])

            await cockpit.ask(Adopt(session=row.session_id, name="mine"))
            mine = await cockpit.until(
                lambda row: row.pid and row.state == "idle", "mine", within=SLOW
            )
            assert (mine.session_id, mine.transcript) == (row.session_id, row.transcript)
            assert (mine.runtime, mine.goal) == ("gemini", "Keep a word.")
            assert "cockpit attach mine" in tmux("capture-pane", "-p")
            assert await supervisor.elsewhere.rows() == []
            await cockpit.until(
                lambda row: (
                    shows(cockpit, row, "Done.") and shows(cockpit, row, "Type your message")
                ),
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

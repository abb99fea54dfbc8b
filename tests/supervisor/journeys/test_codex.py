"""Codex itself, from its start to a handoff and back. The model is simulated."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.prompt_files import prompt_files_in
from cockpit.core.timestamps import rfc3339
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
from cockpit.wire.verbs import Approve, Handoff, Plan, Start, Stop
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.cli_model import (
    SLOW,
    bash,
    idle_with,
    made_with_models,
    say,
    swapped,
)
from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

NAMED = 95_000
"""The window that Codex names for it."""

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CODEX is None, reason="codex is not installed: make clis"),
]


def shown(cockpit: Cockpit, pane: str) -> str:
    return cockpit.tmux("capture-pane", "-p", "-t", pane)


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[Callable[[Answer], CodexPilot]]:
    yield from made_with_models(CodexPilot, cockpit)


def worker(steps: Callable[[int], Reply]) -> Answer:
    """A model that opens its prompt, reads a document that is named in it, writes the one that is
    asked for, and otherwise does its steps."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply("A title")
        done = request.calls_made
        if not done:
            return bash(f"cat {prompt_files_in(request.everything)[0]}")
        named = DOCUMENT_PATH.findall(request.everything)
        if len(done) == 1 and named:
            return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),))
        if request.document_asked is not None:
            call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=70_000))
        return steps(len(done))

    return answer


@pytest.mark.long
async def test_its_tokens_are_read_as_the_model_counted_them(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000 + number)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(idle_with(TokenCount(cache_read=30_001)), within=SLOW)
        assert (row.context.window, row.context.confidence) == (NAMED, "reported")
        assert row.model == "lab"
        assert row.transcript is not None
        assert (cockpit.home / "codex") in Path(row.transcript).parents


@pytest.mark.long
async def test_a_handoff_swaps_its_session_and_the_next_one_reads_the_document(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    def steps(number: int) -> Reply:
        if len(list(flown.folder.glob("sessions/*/*/*/*.jsonl"))) > 1:
            return say("Done.")
        return bash(f"sleep 0.2; echo step {number}", min(80_000, 20_000 * number))

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table("auto")):
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
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
async def test_an_error_of_the_api_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    failed = Reply(error=ApiError(400, "invalid_request_error", "No such thing"))
    flown = pilot(worker(lambda number: failed))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "failed"


@pytest.mark.long
async def test_a_session_goes_on_after_a_stop(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start(resume="last", prompt="Go on.")
        after = await cockpit.until(lambda row: row.state == "idle" and row.pid, within=SLOW)
        assert (after.session_id, after.transcript) == (before.session_id, before.transcript)
        assert after.session_number == 1


@pytest.mark.long
async def test_a_session_that_was_stopped_in_a_turn_is_idle_when_it_is_reopened(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    """Codex writes nothing when a signal ends it. Also the next supervisor knows."""
    flown = pilot(worker(lambda number: bash("sleep 64", 30_000)))
    async with cockpit.flying(flown.table()):
        pane = (await cockpit.start()).pane or ""
        await cockpit.until(lambda _: "sleep 64" in shown(cockpit, pane), within=SLOW)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start(resume="last")
        first = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
    async with cockpit.flying():
        second = await cockpit.until(lambda row: row.state != "unknown", within=SLOW)
        assert (second.state, second.pid) == ("idle", first.pid)


async def test_an_idle_session_is_ended_by_its_own_key_and_a_draft_is_not_sent(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    """Codex runs the user's `SessionEnd` hooks only if it ends by itself."""
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)))
    status, program = cockpit.home / "status", cockpit.home / "bin" / "codex"
    real = program.resolve()
    program.unlink()
    program.write_text(f'#!/bin/sh\n"{real}" "$@"\necho $? > "{status}"\n')
    program.chmod(0o755)
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        status.unlink()  # of the look at its version
        await cockpit.ask(Stop(name="api"))
        assert status.read_text() == "0\n"

        await cockpit.start(resume="last", prompt="Go on.")
        row = await cockpit.until(lambda row: row.state == "idle" and row.pid, within=SLOW)
        pane = row.pane or ""
        cockpit.tmux("send-keys", "-t", pane, "-l", "half a sentence")
        await cockpit.until(lambda _: "half a sentence" in shown(cockpit, pane), within=SLOW)
        status.unlink()
        await cockpit.ask(Stop(name="api"))
        assert not status.exists()
    assert not any("half a sentence" in each.everything for each in flown.model.requests)


async def test_a_folder_that_is_not_trusted_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.")))
    flown.trust()
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert "trust" in row.needs.detail


async def test_a_permission_dialog_is_told_and_answered(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    def steps(number: int) -> Reply:
        if number > 1:
            return say("Done.")
        given = {"command": "git commit --allow-empty -m x", "justification": "May I commit?"}
        return Reply(tool_calls=(ToolCall("Bash", given),))

    flown = pilot(worker(steps))
    async with cockpit.flying(flown.table().replace("bypassPermissions", "acceptEdits")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.tool) == ("permission", "Bash")
        assert row.needs.command == "git commit --allow-empty -m x"
        pane = row.pane or ""
        pressed = 0.0

        def answered(row: AgentStatus) -> bool:
            # The hook runs before the dialog is drawn; keys before and just after that are lost.
            nonlocal pressed
            now = time.monotonic()
            if now - pressed > 2 and "Press enter to confirm" in shown(cockpit, pane):
                cockpit.tmux("send-keys", "-t", pane, "y")
                pressed = now
            return row.state == "idle" and not row.needs

        await cockpit.until(answered, within=SLOW)


@pytest.mark.long
async def test_an_interrupted_turn_is_idle(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: bash("sleep 60")))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "working" and row.activity, within=SLOW)
        pane = row.pane or ""

        def runs(_: AgentStatus) -> bool:
            seen = shown(cockpit, pane)
            return "sleep 60" in seen and "esc to interrupt" in seen

        await cockpit.until(runs, within=SLOW)
        cockpit.tmux("send-keys", "-t", pane, "Escape")
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)


@pytest.mark.long
async def test_a_supervisor_that_was_away_knows_the_session_again(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)))
    await cockpit.launch(flown.table())
    await cockpit.start()
    read = idle_with(TokenCount(cache_read=30_000))
    before = await cockpit.until(read, within=SLOW)
    cockpit.kill()
    await cockpit.launch()
    after = await cockpit.until(read, within=SLOW)
    assert (after.pid, after.transcript) == (before.pid, before.transcript)


async def test_no_prompt_is_in_the_process_list(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.")))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        words = Path(f"/proc/{row.pid}/cmdline").read_bytes()
        assert b"Count the steps" not in words
        assert re.search(rb"--no-daemon", words)


@pytest.mark.long
async def test_a_copy_writes_the_document_where_the_agent_is_not_asked(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    def steps(number: int) -> Reply:
        return say("Done.", tokens=30_000)

    flown = pilot(worker(steps))
    ask = flown.model._answer

    def answer(request: Request) -> Reply:
        return Reply(DOCUMENT) if request.asks_for_answer else ask(request)

    flown.model._answer = answer
    more = "[agents.handoff]\nwriters = ['sdk', 'facts']\n"
    async with cockpit.flying(flown.table("auto", more)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(swapped, within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "sdk"


@pytest.mark.long
async def test_it_starts_in_a_worktree(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    """The checkout is trusted, so Codex asks nothing in its worktree."""
    flown = pilot(worker(lambda number: bash("pwd") if number < 2 else say("Done.")))
    trees = json.dumps(str(cockpit.home / "trees"))
    tree = f"[agents.worktree]\nstrategy = 'git_worktree'\ndirectory = {trees}\n"
    async with cockpit.flying(flown.table(more=tree)):
        await cockpit.start()
        row = await cockpit.until(
            lambda row: row.state == "idle" and row.context.tokens, within=SLOW
        )
        assert row.worktree is not None
        assert cockpit.repository not in Path(row.worktree).parents
        assert row.worktree in flown.model.requests[-1].everything


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("", "asks you before each commit, unless your Codex configuration"),
        ("acceptEdits", "asks you before each commit"),
        ("dontAsk", "cannot commit"),
        ("bypassPermissions", None),
    ],
)
async def test_the_user_is_told_of_commits_before_the_start(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot], mode: str, told: str | None
) -> None:
    flown = pilot(worker(lambda number: say("Done.")))
    table = flown.table().replace("'bypassPermissions'", repr(mode))
    async with cockpit.flying(table):
        plan = await cockpit.ask(Plan(name="api"))
        elsewhere = await cockpit.ask(Plan(name="api", directory=str(cockpit.home)))
        assert (told or "as configured") in plan.message
        assert told is not None or "commit" not in plan.message
        assert "each commit" not in elsewhere.message
        if mode == "acceptEdits":
            started = await cockpit.ask(Start(name="api"))
            assert "asks you before each commit" in started.message


@pytest.mark.long
async def test_a_usage_limit_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    resets = int(time.time()) + 7_200
    told = (("primary-used-percent", "100"), ("primary-window-minutes", "300"))
    headers = (*told, ("primary-reset-at", str(resets)))
    error = ApiError(
        429,
        "usage_limit_reached",
        "The usage limit has been reached",
        tuple((f"x-codex-{name}", value) for name, value in headers),
    )
    flown = pilot(worker(lambda number: Reply(error=error)))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.resets_at) == ("usage_limit", rfc3339(resets))
        assert [(one.name, one.used) for one in row.rate_limits] == [("five_hour", 1.0)]


@pytest.mark.long
async def test_a_compaction_is_seen(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    def steps(number: int) -> Reply:
        return bash("echo on", [20_000, 60_000, 93_000][min(2, number - 1)])

    ask = worker(steps)

    def answer(request: Request) -> Reply:
        if "CONTEXT CHECKPOINT COMPACTION" in request.latest:
            return say("<summary>All steps so far.</summary>")
        return (
            say("Done.", tokens=9_000)
            if "All steps so far." in request.everything
            else ask(request)
        )

    flown = pilot(answer)
    async with cockpit.flying(flown.table("observe")):
        await cockpit.start()
        row = await cockpit.until(
            lambda row: row.compactions and idle_with(TokenCount(cache_read=9_000))(row),
            within=SLOW,
        )
        assert row.compactions == 1


async def test_a_supervisor_killed_in_a_handoff_continues_it(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    flown = pilot(worker(lambda number: say("Done.", tokens=30_000)))
    await cockpit.launch(flown.table())
    await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle", within=SLOW)
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
async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilot: Callable[[Answer], CodexPilot]
) -> None:
    asked_inside: list[str] = []

    def answer(request: Request) -> Reply:
        if "SUBTASK" in request.opening:
            if request.document_asked:
                asked_inside.append(request.document_asked)
            if request.replies_made < 6:
                return bash(f"sleep 0.5; echo inside {request.replies_made}", 5_000)
            return say("The subtask is done.", tokens=6_000)
        if request.replies_made == 1 and not DOCUMENT_PATH.findall(request.everything):
            call = ToolCall("multi_agent_v1.spawn_agent", {"message": "SUBTASK: look"})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=70_000))
        return main(request)

    main = worker(lambda number: say("Done.") if number > 5 else bash("sleep 1; echo on", 80_000))
    flown = pilot(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.conduct.subagents, within=SLOW)
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"

"""What only Gemini CLI does. The model is simulated.

What it does like the other CLIs is in the files `test_each_cli*`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.gemini.program import find_program
from cockpit.core.errors import NotNow
from cockpit.demo.conversation import (
    DOCUMENT_PATH,
    ApiError,
    Reply,
    Request,
    TokenCount,
    ToolCall,
)
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Send
from tests.supervisor.journeys.cli_model import SLOW, bash, say, swapped
from tests.supervisor.journeys.cli_pilot import Pilots
from tests.supervisor.journeys.gemini_pilot import GEMINI, UnlinkedGeminiPilot

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

MARKS = "[agents.context]\nact = '60k'\n"

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.timeout(900),
]


@pytest.fixture
def name() -> str:
    return "gemini"


@pytest.fixture
def unlinked(cockpit: Cockpit) -> Iterator[Pilots]:
    """Gemini without cockpit's extension."""
    if GEMINI is None:
        pytest.skip("gemini is not installed: make clis")
    made = Pilots(UnlinkedGeminiPilot, cockpit)
    yield made
    made.stop()


def idle_with(tokens: int) -> Callable[[AgentStatus], bool]:
    """A hook tells that a turn is over before the last reply is read from the record."""
    return lambda row: row.state == "idle" and row.context.tokens == tokens


def shows(cockpit: Cockpit, row: AgentStatus, text: str) -> bool:
    return text in cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")


@pytest.mark.long
async def test_it_starts_in_a_worktree_of_a_trusted_checkout(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    """Gemini itself would ask about the folder, because its trust does not cover worktrees."""
    # Gemini sometimes loses the output of a faster command.
    flown = pilots.working(
        lambda request: bash("pwd; sleep 1") if len(request.calls_made) < 2 else say("Done.")
    )
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
    cockpit: Cockpit, pilots: Pilots
) -> None:
    errors = [
        ApiError(400, "invalid_request_error", "No such thing"),
        ApiError(429, "rate_limit_error", "Used up. Please retry in 3600s"),
    ]
    flown = pilots.answering(lambda request: Reply(error=errors[0]))
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
    cockpit: Cockpit, unlinked: Pilots
) -> None:
    flown = unlinked.working(lambda _: say("Done."))
    flown.trust()
    async with cockpit.flying(flown.table()):
        with pytest.raises(NotNow, match="Gemini does not trust"):
            await cockpit.start()
        assert not flown.model.requests
        await cockpit.start(prompt="")
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "trust"


async def test_no_prompt_answers_the_trust_dialog(cockpit: Cockpit, pilots: Pilots) -> None:
    """Gemini reports the start of the session while the dialog is open."""
    flown = pilots.working(lambda _: say("Done."))
    flown.trust()
    before = (flown.folder / ".gemini" / "trustedFolders.json").read_text()

    async with cockpit.flying(flown.table()):
        await cockpit.start(prompt="")
        assert cockpit.supervisor is not None
        agent = cockpit.supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.has_begun, within=SLOW)
        row = await cockpit.until(
            lambda row: row.needs and shows(cockpit, row, "Do you trust the files"), within=SLOW
        )
        assert row.needs is not None
        assert (row.state, row.needs.kind) == ("needs_you", "trust")
        # As if the dialog was opened since the last look at the pane.
        agent.troubles.dialog = None
        with pytest.raises(NotNow, match="asking a question") as refused:
            await cockpit.ask(Send(name="api", text="Trust me."))
        assert "cockpit attach api" in refused.value.hint
        assert shows(cockpit, row, "Do you trust the files")
        assert (flown.folder / ".gemini" / "trustedFolders.json").read_text() == before

        # The user answers: Gemini then asks whoever started it to start it again.
        cockpit.tmux("send-keys", "-t", row.pane or "", "Enter")
        row = await cockpit.until(lambda row: row.needs and not row.pid, within=SLOW)
        assert row.needs is not None
        assert "Gemini CLI ended to apply your answer." in row.needs.detail
        assert "cockpit start api" in row.needs.detail
        await cockpit.start(prompt="Begin.")
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
    assert any("Begin." in request.everything for request in flown.model.requests)


@pytest.mark.long
async def test_a_permission_dialog_is_answered_or_escaped_and_a_turn_is_interrupted(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    commit = bash("git commit --allow-empty -m x")
    replies = [commit]
    flown = pilots.working(lambda _: replies.pop() if replies else say("Done."))

    def press(row: AgentStatus, key: str) -> None:
        cockpit.tmux("send-keys", "-t", row.pane or "", key)

    async with cockpit.flying(flown.table(permission="acceptEdits")):
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
async def test_without_the_extension_it_works_by_its_record_and_its_title(
    cockpit: Cockpit, unlinked: Pilots
) -> None:
    flown = unlinked.working(lambda _: say("Done.", tokens=30_000))
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
async def test_a_compaction_is_seen_and_its_point_learned_and_the_next_prompt_has_the_facts(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    def steps(request: Request) -> Reply:
        match len(request.calls_made):
            case 0:
                return say("Done.", tokens=9_000)
            case 1 | 2:
                return bash(f"sleep 1; echo {len(request.calls_made)}", tokens=530_000)
            case _:
                return say("Done.", tokens=530_000)

    flown = pilots.working(steps)
    more = "strategy = 'compact'\n[agents.context]\nact = '900k'\nforce = '950k'\n"
    async with cockpit.flying(flown.table("prompt", more)):
        await cockpit.start()
        row = await cockpit.until(idle_with(531_003), within=SLOW)
        # Before the only prompt there was nothing to compact: no evidence of another point.
        assert len(flown.model.requests) > 3
        assert (row.context.compacts_at, row.context.compacts_at_source) == (524_288, "formula")
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
async def test_a_request_does_not_reach_a_subagent(cockpit: Cockpit, pilots: Pilots) -> None:
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
        if request.replies_made == 1 and not DOCUMENT_PATH.search(request.everything):
            given = {"agent_name": "generalist", "prompt": "SUBTASK: look"}
            return Reply(
                tool_calls=(ToolCall("invoke_agent", given),), tokens=TokenCount(cache_read=80_000)
            )
        return main(request)

    main = pilots.cli.worker(lambda _: say("Done."))
    flown = pilots.answering(answer)
    async with cockpit.flying(flown.table("auto", MARKS)) as supervisor:
        await cockpit.start()
        activity = supervisor.fleet.agent("api").session_state.activity
        row = await cockpit.until(lambda row: row.handoff and activity.subagents, within=SLOW)
        assert row.activity == "Agent generalist"
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"


@pytest.mark.long
@pytest.mark.skipif(GEMINI is None, reason="gemini is not installed: make clis")
def test_the_command_that_links_writes_only_what_is_listed(tmp_path: Path) -> None:
    assert GEMINI is not None
    environment = {"GEMINI_CLI_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    ours = tmp_path / "gemini-extension"

    extension.link(find_program(environment, path=Path(GEMINI)), environment, ours)

    gemini = tmp_path / ".gemini"
    listed = [*extension.written_by(environment), ours, gemini / "tmp", gemini / "history"]
    written = [path for path in tmp_path.rglob("*") if not path.is_dir()]
    assert [each for each in written if not any(map(each.is_relative_to, listed))] == []
    assert [path for path in listed if not path.exists()] == []

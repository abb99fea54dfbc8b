"""What only Codex does. The model is simulated.

What it does like the other CLIs is in the files `test_each_cli*`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.timestamps import rfc3339
from cockpit.demo.conversation import (
    DOCUMENT_PATH,
    ApiError,
    Reply,
    Request,
    TokenCount,
    ToolCall,
)
from cockpit.supervisor.sessions import end_keys
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Plan, Start, Stop
from tests.supervisor.journeys.cli_model import SLOW, bash, say, swapped
from tests.supervisor.journeys.cli_pilot import Pilots

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(900)]


def shown(cockpit: Cockpit, pane: str) -> str:
    return cockpit.tmux("capture-pane", "-p", "-t", pane)


@pytest.fixture
def name() -> str:
    return "codex"


@pytest.mark.long
async def test_a_session_that_was_stopped_in_a_turn_is_idle_when_it_is_reopened(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    """Codex writes nothing when a signal ends it. Also the next supervisor knows."""
    flown = pilots.working(lambda _: bash("sleep 64", 30_000))
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
    cockpit: Cockpit, pilots: Pilots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex runs the user's `SessionEnd` hooks only if it ends by itself."""
    monkeypatch.setattr(end_keys, "PATIENCE", SLOW)
    flown = pilots.working(lambda _: say("Done.", tokens=30_000))
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
        # Until Codex reads its keys, the terminal itself shows them, and Codex drops them.
        row = await cockpit.until(
            lambda row: row.state == "idle" and shown(cockpit, row.pane or "").count("Done.") == 2,
            within=SLOW,
        )
        pane = row.pane or ""
        cockpit.tmux("send-keys", "-t", pane, "-l", "half a sentence")
        await cockpit.until(lambda _: "› half a sentence" in shown(cockpit, pane), within=SLOW)
        status.unlink()
        await cockpit.ask(Stop(name="api"))
        assert not status.exists()
    assert not any("half a sentence" in each.everything for each in flown.model.requests)


async def test_a_permission_dialog_is_told_and_answered(cockpit: Cockpit, pilots: Pilots) -> None:
    def steps(request: Request) -> Reply:
        if len(request.calls_made) > 1:
            return say("Done.")
        given = {"command": "git commit --allow-empty -m x", "justification": "May I commit?"}
        return Reply(tool_calls=(ToolCall("Bash", given),))

    flown = pilots.working(steps)
    async with cockpit.flying(flown.table(permission="acceptEdits")):
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
async def test_an_interrupted_turn_is_idle(cockpit: Cockpit, pilots: Pilots) -> None:
    flown = pilots.working(lambda _: bash("sleep 60"))
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
async def test_it_starts_in_a_worktree(cockpit: Cockpit, pilots: Pilots) -> None:
    """The checkout is trusted, so Codex asks nothing in its worktree."""
    flown = pilots.working(
        lambda request: bash("pwd") if len(request.calls_made) < 2 else say("Done.")
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
    cockpit: Cockpit, pilots: Pilots, mode: str, told: str | None
) -> None:
    flown = pilots.working(lambda _: say("Done."))
    table = flown.table(permission=mode)
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
async def test_a_usage_limit_is_told(cockpit: Cockpit, pilots: Pilots) -> None:
    resets = int(time.time()) + 7_200
    told = (("primary-used-percent", "100"), ("primary-window-minutes", "300"))
    headers = (*told, ("primary-reset-at", str(resets)))
    error = ApiError(
        429,
        "usage_limit_reached",
        "The usage limit has been reached",
        tuple((f"x-codex-{name}", value) for name, value in headers),
    )
    flown = pilots.working(lambda _: Reply(error=error))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.resets_at) == ("usage_limit", rfc3339(resets))
        assert [(one.name, one.used) for one in row.rate_limits] == [("five_hour", 1.0)]


@pytest.mark.long
async def test_a_request_does_not_reach_a_subagent(cockpit: Cockpit, pilots: Pilots) -> None:
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

    main = pilots.cli.worker(
        lambda request: (
            say("Done.") if len(request.calls_made) > 5 else bash("sleep 1; echo on", 80_000)
        )
    )
    flown = pilots.answering(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.activity.subagents, within=SLOW)
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"

"""What `cockpit facts` reads in a transcript of the real Claude Code, against what was done."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from cockpit.cli.commands import cockpit
from cockpit.demo.conversation import Reply, Request
from cockpit.wire.verbs import Send
from tests.journeys.real_agent import NO_CLI, SECONDS, RealAgent, call, real_agent, say
from tests.journeys.test_answer_claude import (
    DATABASE,
    PARTS,
    SETTINGS,
    Script,
    answer,
    bash,
    begun,
    dialog,
    press,
    resting,
)

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]
PLAN = "# Plan\n\n1. Count the rows\n2. Write the report"


async def facts(agent: RealAgent) -> dict[str, Any]:
    """What the command prints about the agent's transcript."""
    row = await agent.row()
    assert row.transcript is not None
    done = await asyncio.to_thread(
        CliRunner().invoke, cockpit, ["facts", row.transcript, "--json"], catch_exceptions=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def facts_when(agent: RealAgent, true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The facts once the CLI has written what makes the condition hold."""
    async with asyncio.timeout(SECONDS):
        while not true(told := await facts(agent)):
            await asyncio.sleep(0.1)
    return told


@pytest.mark.long
async def test_answers_refusals_checks_and_failures_of_a_real_session() -> None:
    script = Script(
        call("AskUserQuestion", questions=[DATABASE, PARTS]),
        call("AskUserQuestion", questions=[DATABASE]),
        bash("git push origin main"),
        bash("make test"),
        call("AskUserQuestion", questions=[PARTS]),
        bash("git push origin other"),
        say("Done."),
    )

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        shown = await dialog(agent)
        await answer(agent, shown, 2)
        shown = await dialog(agent, shown.identity)
        await answer(agent, shown, 1, 3)
        shown = await dialog(agent, shown.identity)
        await answer(agent, shown, 1)
        shown = await dialog(agent, shown.identity)
        await answer(agent, shown, 3, text='DuckDB, "embedded" as in the plan')
        shown = await dialog(agent, shown.identity)
        await answer(agent, shown, len(shown.choices), text="never push, I do that myself")
        shown = await dialog(agent, shown.identity)
        assert shown.text == "make test"
        await answer(agent, shown, 1)
        shown = await dialog(agent, shown.identity)
        await answer(agent, shown, len(shown.choices))  # talk about it instead
        await dialog(agent, shown.identity)
        press(agent, str((await agent.row()).pane), "Escape")
        await agent.until(resting)
        await agent.flown.client.ask(Send(name=agent.name, text="Then always ask before a push."))
        await agent.until(lambda row: resting(row) and script.results[-1].count("always ask"))

        found = await facts_when(agent, lambda told: told["constraints"])
        database, parts = DATABASE["question"], PARTS["question"]
        assert [(one["question"], one["answer"]) for one in found["answers"]] == [
            (database, "Postgres"),
            (parts, "Parser, Options"),
            (database, 'DuckDB, "embedded" as in the plan'),
        ]
        assert [(one["call"], one["reason"]) for one in found["refusals"]] == [
            ("Do it: git push origin main", "never push, I do that myself"),
            (f"AskUserQuestion {parts}", ""),
            ("Do it: git push origin other", ""),
        ]
        (check,) = found["checks"]
        assert (check["kind"], check["failed"], check["exit"]) == ("test", True, 2)
        (failure,) = found["failures"]
        assert failure["call"] == "Do it: make test"
        assert failure["error"].startswith("make: ***")
        assert found["constraints"] == [{"turn": 2, "text": "Then always ask before a push."}]


@pytest.mark.long
async def test_a_plan_that_was_refused_with_a_text_and_then_approved() -> None:
    results: list[str] = []

    def planned(request: Request) -> Reply:
        """Write the plan into the file that the CLI names, and present it; then once more."""
        if not request.has_tools:
            return say("ok")
        file = re.search(r"/\S+/plans/[\w-]+\.md", str(request.messages))
        assert file is not None
        plans = [PLAN, f"{PLAN}\n3. Send it to Lena"]
        steps = [
            step
            for plan in plans
            for step in (
                call("Write", file_path=file[0], content=plan),
                call("ExitPlanMode", plan=plan),
            )
        ]
        made = request.replies_made
        results.append(str(request.messages[-1]))
        return steps[made] if made < len(steps) else say("Done.")

    with real_agent(planned, **SETTINGS | {"permission_mode": '"plan"'}) as agent:
        await begun(agent)
        shown = await dialog(agent)
        assert shown.tool == "ExitPlanMode"
        await answer(agent, shown, len(shown.choices), text="also send it to Lena")
        again = await dialog(agent, shown.identity)
        between = await facts_when(agent, lambda told: told["plan"]["approved"] is None)
        assert [(one["call"], one["reason"]) for one in between["refusals"]] == [
            ("ExitPlanMode # Plan", "also send it to Lena")
        ]
        assert between["plan"]["approved"] is None
        assert between["plan"]["text"].endswith("3. Send it to Lena")
        manually = next(n for n, each in enumerate(again.choices, 1) if "manually" in each.label)
        await answer(agent, again, manually)
        await agent.until(lambda row: resting(row) and "approved your plan" in results[-1])
        told = await facts_when(agent, lambda told: told["plan"]["approved"] is not None)
        plan = told["plan"]
        assert plan["approved"] is True
        assert plan["text"].endswith("3. Send it to Lena")
        assert plan["file"].endswith(".md")

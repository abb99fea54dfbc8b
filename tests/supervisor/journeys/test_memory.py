"""The memory of a chain: what earlier sessions decided reaches every later one, until revoked."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.cli.handoff_quality import quality_lines
from cockpit.core import document
from cockpit.core.chain_memory import CARRIED
from cockpit.core.handoff.events import Turn
from cockpit.wire.verbs import Approve, Continue, Handoff, Stop, Undo

if TYPE_CHECKING:
    from cockpit.wire.status import AgentStatus
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

DRAFT = """\
## Current Task
Counting.

## Progress
### Completed
- Step 1
### In Progress
- Step 2
### Pending
- Step 3

## Current State
Half of it is done, and the other half is written down in the list of steps above. The counter is
at two, and the next number is three. Nothing else is open, and no test fails.

## Next Steps
1. `echo next`

## Key Decisions
{decisions}

## What Did Not Work
None.

## Open Issues
None.
"""


async def hand_off(
    cockpit: Cockpit, decisions: str, *, times: int = 0, constraints: str = ""
) -> None:
    """Hand off with a document that has these decisions; wait for the end of that handoff."""
    await cockpit.until(lambda row: row.activity and row.handoff is None)
    given = cockpit.repository / "given.md"
    more = f"\n## Constraints from the user\n{constraints}\n" if constraints else ""
    given.write_text(DRAFT.format(decisions=decisions) + more)
    await cockpit.ask(Handoff(name="api", document=str(given)))
    if times:
        await cockpit.until(handed_off(times))


def idle(row: AgentStatus) -> bool:
    return row.state == "idle"


def in_review(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


def handed_off(times: int) -> Callable[[AgentStatus], object]:
    def is_over(row: AgentStatus) -> bool:
        return row.handoffs == times and row.handoff is None and row.pid is not None

    return is_over


def papers(cockpit: Cockpit) -> list[Path]:
    found = (cockpit.repository / ".cockpit" / "handoffs").glob("handoff-*.md")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)


def decided(path: Path) -> str:
    return document.read(path.read_text()).sections["Key Decisions"]


async def test_decisions_reach_every_later_session_until_one_revokes_them(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100)):
        await cockpit.start()
        first = "- Use SQLite, because it is one file\n- Never push to main"
        await hand_off(cockpit, first, times=1)
        await hand_off(cockpit, "- Tabs, not spaces", times=2)
        ends = "- Tabs, not spaces\n- Revoked: Never push to main. The user allowed it."
        await hand_off(cockpit, ends, times=3)
    one, two, three = papers(cockpit)
    assert CARRIED not in one.read_text()
    lost = "(dropped since session 1; added by cockpit)"
    assert f"- Never push to main {lost}" in decided(two)
    assert f"- Use SQLite, because it is one file {lost}" in decided(two)
    assert f"- Use SQLite, because it is one file {lost}" in decided(three)
    assert f"Never push to main {lost}" not in decided(three)
    assert document.validate(three.read_text(), complete=True) == []


@pytest.mark.long
async def test_facts_without_a_model_carry_what_a_session_decided(cockpit: Cockpit) -> None:
    """The writer of facts knows no decisions: those of the chain are all that there are."""
    more = '[agents.handoff]\nwriters = ["facts"]'
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100, more=more)):
        await cockpit.start()
        await hand_off(cockpit, "- Use SQLite", times=1)
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(handed_off(2))
    second = papers(cockpit)[1]
    assert 'writer: "facts"' in second.read_text()
    assert "- Use SQLite (dropped since session 1; added by cockpit)" in decided(second)


@pytest.mark.long
async def test_what_the_user_takes_out_of_a_document_does_not_come_back_into_it(
    cockpit: Cockpit,
) -> None:
    """The agent works during the review, so that the facts are renewed after the approval."""
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=500, step_tokens=100)):
        await cockpit.start()
        await hand_off(cockpit, "- Use SQLite\n- Use uv")
        await cockpit.until(in_review)
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(handed_off(1))
        await hand_off(cockpit, "- Tabs")
        await cockpit.until(in_review)
        path = papers(cockpit)[-1]
        text = path.read_text()
        assert "- Use SQLite (dropped since session 1" in text
        edited = "\n".join(line for line in text.split("\n") if "Use SQLite (dropped" not in line)
        path.write_text(edited)
        sha256 = hashlib.sha256(edited.encode()).hexdigest()
        await cockpit.ask(Approve(name="api", sha256=sha256))
        await cockpit.until(handed_off(2))
    assert "Use SQLite" not in decided(path)
    assert "- Use uv (dropped since session 1; added by cockpit)" in decided(path)


@pytest.mark.long
async def test_a_new_job_from_a_document_keeps_what_the_chain_before_it_decided(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100)):
        await cockpit.start()
        await hand_off(cockpit, "- Use SQLite", times=1)
        await hand_off(cockpit, "- Tabs", times=2)
        await cockpit.ask(Stop(name="api"))
        left = papers(cockpit)[-1]
        # In a document of an earlier version, cockpit added nothing.
        added = "- Use SQLite (dropped since session 1; added by cockpit)"
        left.write_text(left.read_text().replace(added, ""))
        done = await cockpit.ask(Continue(document=str(left)))
        row = await cockpit.until(lambda row: row.activity, str(done.name))
        (opening,) = cockpit.prompts(row)
        assert "- Use SQLite (session 1 of api)" in opening
        assert "- Tabs" not in opening


def quality(cockpit: Cockpit) -> list[dict[str, Any]]:
    """What is stored of the first turns after each handoff, oldest first."""
    with closing(sqlite3.connect(cockpit.places.database)) as opened:
        rows = opened.execute("select details from handoffs order by created").fetchall()
    return [json.loads(row[0]).get("first_turns") or {} for row in rows]


@pytest.mark.long
async def test_a_successor_that_repeats_and_disobeys_is_told(cockpit: Cockpit) -> None:
    check = cockpit.home / "check.sh"
    check.write_text("echo no module named foo\n")
    run = f"sh {check}; git commit --allow-empty -m Counted; exit 3"
    table = cockpit.agent(steps=500, step_tokens=100, run=run)
    async with cockpit.flying(table):
        first = await cockpit.start()
        error = "no module named foo"
        await cockpit.until(lambda row: row.activity and error in json.dumps(cockpit.said(first)))
        assert (await cockpit.row()).note is None
        await hand_off(cockpit, "None.", times=1, constraints="- Never commit\n- Never push")
        row = await cockpit.until(lambda row: row.note and "2 more" in row.note)
        assert row.note is not None
        assert row.note.startswith("this session broke a standing order: Never commit")
        (told,) = quality(cockpit)
        assert told["broken_orders"] == ["Never commit"]
        assert told["repeats"] == [
            "committed again: Counted",
            f"failed again in the same way: `{run}`",
        ]
        assert told["document_read"] is True
        assert told["asked_again"] == []
        assert 0 <= told["first_change_seconds"] < 60

    # Another supervisor comes to the same result, and does not add to it.
    async with cockpit.flying():
        again = await cockpit.until(lambda row: row.note and "2 more" in row.note)
        assert again.session_id == row.session_id
        assert quality(cockpit) == [told]


@pytest.mark.long
async def test_turns_before_the_confirmation_are_checked_too(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=1, step_tokens=100)) as supervisor:
        await cockpit.start()
        await cockpit.until(idle)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "confirming")
        agent = supervisor.fleet.agent("api")
        async with supervisor.locks.hold(agent.name, "being tested"):
            # Nothing happens in the session after the handoff is confirmed.
            await cockpit.until(lambda _: agent.session_state.activity.turn is Turn.IDLE)
            assert agent.handoffs == 0
        await cockpit.until(lambda row: row.handoffs == 1)

        await cockpit.until(lambda _: agent.progress.arrival)

        (told,) = quality(cockpit)
        assert told["document_read"] is True


@pytest.mark.long
async def test_the_history_reads_the_chain_as_one(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100)):
        await cockpit.start()
        await hand_off(cockpit, "- Never push to main\n- Push tags at once", times=1)
        await hand_off(cockpit, "- Push tags at once\n- Revoked: Never push to main", times=2)
        (chain,) = await cockpit.client.history("api", "push")
        told = {each.text: (each.since, each.last, each.revoked_in) for each in chain.statements}
        assert told == {
            "Never push to main": ("session 1", "session 1", "session 2"),
            "Push tags at once": ("session 1", "session 2", None),
        }
        (chain,) = await cockpit.client.history("api", "push main")
        assert [each.text for each in chain.statements] == ["Never push to main"]
        (chain,) = await cockpit.client.history("api")
        assert chain.statements == []
        facts = await cockpit.client.facts("api")
        assert facts["standing"] == [
            {
                "section": "Key Decisions",
                "text": "Push tags at once",
                "since": "session 1",
                "last": "session 2",
            }
        ]
        await cockpit.ask(Undo(name="api"))
        await cockpit.until(lambda row: row.session_number == 2 and row.pid)
        assert [each["text"] for each in (await cockpit.client.facts("api"))["standing"]] == [
            "Never push to main",
            "Push tags at once",
        ]


@pytest.mark.long
async def test_the_history_says_how_well_each_handoff_went(cockpit: Cockpit) -> None:
    run = "git commit --allow-empty -m Counted"
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100, run=run)):
        await cockpit.start()
        await hand_off(cockpit, "- Use SQLite", times=1, constraints="- Never push")
        await cockpit.until(lambda row: row.note and "committed again: Counted" in row.note)
        (chain,) = await cockpit.client.history("api")
        (handoff,) = chain.sessions[0].handoffs
        assert handoff.tokens_before == chain.sessions[0].tokens
        (paper,) = papers(cockpit)
        assert handoff.document_bytes == paper.stat().st_size
        assert handoff.document_read is True
        assert handoff.first_change_seconds is not None
        assert handoff.repeats == ["committed again: Counted"]
        assert (handoff.broken_orders, handoff.asked_again) == ([], [])
        head, line, _, median = quality_lines([chain])
        assert head.split()[:4] == ["AGENT", "SESSION", "BEFORE", "AFTER"]
        assert line.startswith("api    1 -> 2")
        assert line.split()[-4:] == ["1", "0", "0", "no"]
        assert median.startswith("Median of 1 handoff: ")


@pytest.mark.long
async def test_a_successor_that_goes_on_well_has_no_note(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=40, step_tokens=100)):
        await cockpit.start()
        await hand_off(cockpit, "None.", times=1, constraints="- Never push")
        row = await cockpit.until(lambda row: row.state == "done")
        assert row.note is None
        (told,) = quality(cockpit)
        assert (told["document_read"], told["repeats"], told["broken_orders"]) == (True, [], [])
        assert told.get("first_change_seconds") is None

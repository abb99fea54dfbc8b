"""The memory of a chain: what earlier sessions decided reaches every later one, until revoked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core import document
from cockpit.core.chain_memory import CARRIED
from cockpit.wire.verbs import Approve, Continue, Handoff, Stop

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


def drafts(cockpit: Cockpit, *decisions: str) -> str:
    """A command with which each session writes the next of these documents, the last one again."""
    folder = cockpit.home / "drafts"
    folder.mkdir()
    for number, text in enumerate(decisions, 1):
        (folder / f"{number}.md").write_text(DRAFT.format(decisions=text))
    script = folder / "write.sh"
    script.write_text(
        f"cd {folder}\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\n"
        f'echo $n > count\n[ -f $n.md ] || n={len(decisions)}\ncat $n.md > "$1"\n'
    )
    return f"sh {script} $DRAFT"


def handed_off(times: int) -> object:
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
    draft = drafts(
        cockpit,
        "- Use SQLite, because it is one file\n- Never push to main",
        "- Tabs, not spaces",
        "- Tabs, not spaces\n- Revoked: Never push to main. The user allowed it.",
    )
    table = cockpit.agent(steps=500, step_tokens=100, draft=draft)
    async with cockpit.flying(table):
        await cockpit.start()
        for times in (1, 2, 3):
            await cockpit.until(lambda row: row.activity)
            await cockpit.ask(Handoff(name="api"))
            await cockpit.until(handed_off(times))  # type: ignore[arg-type]
    first, second, third = papers(cockpit)
    assert CARRIED not in first.read_text()
    lost = "(dropped since session 1; added by cockpit)"
    assert f"- Never push to main {lost}" in decided(second)
    assert f"- Use SQLite, because it is one file {lost}" in decided(second)
    assert f"- Use SQLite, because it is one file {lost}" in decided(third)
    assert f"Never push to main {lost}" not in decided(third)
    assert document.validate(third.read_text(), complete=True) == []


async def test_facts_without_a_model_carry_what_a_session_decided(cockpit: Cockpit) -> None:
    """The writer of facts knows no decisions: those of the chain are all that there are."""
    draft = drafts(cockpit, "- Use SQLite", "nothing that is a document")
    (cockpit.home / "drafts" / "2.md").write_text("No.\n")
    more = '[agents.handoff]\ndeadline = "2s"'
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100, draft=draft, more=more)):
        await cockpit.start()
        for times in (1, 2):
            await cockpit.until(lambda row: row.activity)
            await cockpit.ask(Handoff(name="api"))
            await cockpit.until(handed_off(times))  # type: ignore[arg-type]
    assert 'writer: "facts"' in papers(cockpit)[1].read_text()
    assert "- Use SQLite (dropped since session 1; added by cockpit)" in decided(
        papers(cockpit)[1]
    )


async def test_an_edit_in_the_review_is_kept_when_the_facts_are_renewed(cockpit: Cockpit) -> None:
    """A line that the user takes out of the document does not come back into it."""
    draft = drafts(cockpit, "- Use SQLite\n- Use uv", "- Tabs")
    table = cockpit.agent(mode="prompt", steps=500, step_tokens=100, draft=draft)
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(handed_off(1))  # type: ignore[arg-type]
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        assert row.handoff is not None
        path = papers(cockpit)[-1]
        text = path.read_text()
        assert "- Use SQLite (dropped since session 1" in text
        edited = "\n".join(line for line in text.split("\n") if "Use SQLite (dropped" not in line)
        path.write_text(edited)
        import hashlib

        sha256 = hashlib.sha256(edited.encode()).hexdigest()
        await cockpit.ask(Approve(name="api", sha256=sha256))
        await cockpit.until(handed_off(2))  # type: ignore[arg-type]
    assert "Use SQLite" not in decided(path)
    assert "- Use uv (dropped since session 1; added by cockpit)" in decided(path)


async def test_a_new_job_from_a_document_keeps_what_the_chain_before_it_decided(
    cockpit: Cockpit,
) -> None:
    draft = drafts(cockpit, "- Use SQLite", "- Tabs")
    async with cockpit.flying(cockpit.agent(steps=500, step_tokens=100, draft=draft)):
        await cockpit.start()
        for times in (1, 2):
            await cockpit.until(lambda row: row.activity)
            await cockpit.ask(Handoff(name="api"))
            await cockpit.until(handed_off(times))  # type: ignore[arg-type]
        await cockpit.ask(Stop(name="api"))
        left = papers(cockpit)[-1]
        # A document of an earlier version has nothing that cockpit carried over.
        old = left.read_text().replace(" (dropped since session 1; added by cockpit)", "")
        old = "\n".join(line for line in old.split("\n") if line != "- Use SQLite")
        left.write_text(old)
        for copy in cockpit.places.handoffs.glob("*.md"):
            if "- Tabs" in copy.read_text():
                copy.write_text(old)
        done = await cockpit.ask(Continue(document=str(left)))
        row = await cockpit.until(lambda row: row.activity, str(done.name))
        (opening,) = cockpit.prompts(row)
        assert "- Use SQLite (session 1 of api)" in opening
        assert "- Tabs" not in opening

        await cockpit.ask(Stop(name=str(done.name)))

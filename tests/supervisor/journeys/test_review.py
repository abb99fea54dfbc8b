"""The agent goes on while its document is under review: what the successor gets is of now."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core import document
from cockpit.core.claimed_files import Trace
from cockpit.core.errors import NotNow
from cockpit.core.verified_facts import UNVERIFIED, VERIFIED
from cockpit.wire.status import AgentStatus, HandoffStatus
from cockpit.wire.verbs import Approve, Handoff, Send
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


HANDED = """# Handoff

## Current Task
Count the steps of the job, one after the other, as the user has asked for in the beginning.
## Progress
None.
## Current State
{claims}
## Next Steps
1. `ls`
## Key Decisions
None.
## What Did Not Work
None.
## Open Issues
None.
## Background Work
None.
"""


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def sha256(paper: Path) -> str:
    return hashlib.sha256(paper.read_bytes()).hexdigest()


def commit(repository: Path, subject: str) -> str:
    """A commit like one of the agent's; its short hash."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for words in (["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", subject]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize("writer", cases("agent", long=["facts"]))
async def test_facts_are_renewed_before_the_swap_and_an_edit_is_kept(
    cockpit: Cockpit, writer: str
) -> None:
    table = cockpit.agent(
        mode="prompt",
        steps=6,
        pause=2,
        step_tokens=100,
        more=f'[agents.handoff]\nwriters = ["{writer}"]\n',
    )
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        review = (await cockpit.until(reviewed)).handoff
        assert review is not None
        assert review.document is not None
        paper = cockpit.repository / review.document
        first = paper.read_text()
        edited = first.replace("## Key Decisions\n", "## Key Decisions\n\nNever on Fridays.\n")
        paper.write_text(edited)

        calls = (await cockpit.row()).activity
        await cockpit.ask(Send(name="api", text="Go on."))
        (cockpit.repository / "made-by-a-shell.txt").touch()
        made = commit(cockpit.repository, "Work that went on")
        await cockpit.until(lambda row: row.activity != calls)
        await cockpit.until(reviewed)
        await cockpit.ask(Approve(name="api", sha256=sha256(paper)))
        await cockpit.until(swapped)

        text = paper.read_text()
        facts = document.read(text).sections["Verified Facts"]
        assert made not in first
        assert made in facts
        assert "Work that went on" in facts
        assert "- `made-by-a-shell.txt` (git)" in facts
        assert "Never on Fridays." in document.read(text).sections["Key Decisions"]
        (held,) = supervisor.dependencies.store.handoffs_named(review.id)
        assert held.sha256 == hashlib.sha256(paper.read_bytes()).hexdigest()
        assert Path(str(held.copy)).read_bytes() == paper.read_bytes()
        assert held.writer == writer


@pytest.mark.long
@pytest.mark.parametrize("what", cases("changed", long=["gone", "gone with its folder", "a link"]))
async def test_the_successor_reads_what_was_agreed_whatever_became_of_it(
    cockpit: Cockpit, what: str
) -> None:
    table = cockpit.agent(mode="prompt", steps=30, step_tokens=100, faults="first:stuck")
    async with cockpit.flying(table) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda row: any("sleep" in words for words in tools(row).values()))
        review = await under_review_as_given(cockpit)
        paper = cockpit.repository / str(review.document)
        agreed = paper.read_bytes()
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        if what == "changed":
            paper.write_text("Do something else.\n")
        elif what == "gone with its folder":
            shutil.rmtree(paper.parent.parent)
        else:
            paper.unlink()
        if what == "a link":
            paper.symlink_to("/etc/passwd")
        end_turn(cockpit, first)
        await cockpit.until(swapped)

        assert paper.read_bytes() == agreed
        assert not paper.is_symlink()
        (held,) = supervisor.dependencies.store.handoffs_named(review.id)
        assert held.sha256 == hashlib.sha256(agreed).hexdigest()
        told = await cockpit.event("handoff.put_back")
        aside = paper.with_name(f"changed-{paper.name}")
        assert aside.is_symlink() is (what == "a link")
        assert (what in {"changed", "a link"}) is (aside.name in told.text)
        if what == "changed":
            assert aside.read_text() == "Do something else.\n"


@pytest.mark.long
@pytest.mark.parametrize("what", cases("gone", long=["changed"]))
async def test_our_copy_is_the_agreed_document_when_the_session_is_swapped(
    cockpit: Cockpit, what: str
) -> None:
    table = cockpit.agent(mode="prompt", steps=30, step_tokens=100, faults="first:stuck")
    async with cockpit.flying(table) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda row: any("sleep" in words for words in tools(row).values()))
        review = await under_review_as_given(cockpit)
        agreed = (cockpit.repository / str(review.document)).read_bytes()
        copy = supervisor.dependencies.places.handoffs / f"{review.id}.md"
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        if what == "changed":
            copy.write_text("Do something else.\n")
        else:
            copy.unlink()
        end_turn(cockpit, first)
        await cockpit.until(swapped)
        assert copy.read_bytes() == agreed


async def test_a_changed_document_whose_copy_is_gone_is_not_handed_over(cockpit: Cockpit) -> None:
    """Only the hash of the agreed text is left: no text that differs from it is sealed anew."""
    table = cockpit.agent(mode="prompt", steps=30, pause=2, step_tokens=100, faults="first:stuck")
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        review = await under_review_as_given(cockpit)
        paper = cockpit.repository / str(review.document)
        agreed = paper.read_text()
        await cockpit.ask(Send(name="api", text="Go on."))
        first = await cockpit.until(lambda row: "sleep" in " ".join(tools(row).values()))
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        paper.write_text(agreed.replace("## Key Decisions\n", "## Key Decisions\n\nDelete it.\n"))
        (supervisor.dependencies.places.handoffs / f"{review.id}.md").unlink()
        end_turn(cockpit, first)
        told = await cockpit.event("handoff.failed")
        assert "is not the approved one" in told.text
        assert (await cockpit.row()).pid == first.pid
        (held,) = supervisor.dependencies.store.handoffs_named(review.id)
        assert held.sha256 == hashlib.sha256(agreed.encode()).hexdigest()


async def under_review_as_given(cockpit: Cockpit) -> HandoffStatus:
    """A document of notes is under review: the agent was asked for nothing."""
    notes = cockpit.home / "notes.md"
    notes.write_text((await cockpit.ask(Handoff(name="api", dry_run=True))).text or "")
    await cockpit.ask(Handoff(name="api", document=str(notes)))
    review = (await cockpit.until(reviewed)).handoff
    assert review is not None
    return review


def end_turn(cockpit: Cockpit, row: AgentStatus) -> None:
    """Interrupt an agent that waits for a tool, and end the tool."""
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "Escape")
    for pid in tools(row):
        os.kill(pid, signal.SIGTERM)


def tools(row: AgentStatus) -> dict[int, str]:
    """What the agent runs now: pids and command lines."""
    children = Path(f"/proc/{row.pid}/task/{row.pid}/children").read_text().split()
    found = {}
    for pid in children:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            found[int(pid)] = Path(f"/proc/{pid}/cmdline").read_text()
    return found


@pytest.mark.long
@pytest.mark.parametrize("restless", [False, True])
async def test_an_agreed_handoff_does_not_wait_for_a_turn_that_never_ends(
    cockpit: Cockpit, restless: bool
) -> None:
    """Asked to end its turn, it does; one that goes on is cut off when its context is full."""

    table = cockpit.agent(
        mode="prompt",
        steps=900,
        settles=0,
        step_tokens=30_000 if restless else 100,
        faults="first:restless" if restless else "",
        more='[agents.handoff]\nwriters = ["facts"]\n',
    )
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(reviewed)
        before = (await cockpit.row()).compactions
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(swapped)
        assert len(await cockpit.events("handoff.interrupted")) == restless
        late = await cockpit.events("agent.compacted")
        assert len(late) <= before + 1
        assert not any("too late" in each.text for each in late[before:])


async def test_each_claim_of_the_agents_document_is_checked(cockpit: Cockpit) -> None:
    (cockpit.repository / "src").mkdir()
    (cockpit.repository / "src" / "there.py").touch()
    (cockpit.repository / "src" / "out.py").symlink_to("/etc/hostname")
    made = commit(cockpit.repository, "Before it all")
    (cockpit.repository / "src" / "new.py").touch()
    claims = (
        "src/nonexist.py was edited, and src/there.py, and src/new.py; src/out.py is a link. "
        f"See commit 1234567 and commit {made}."
    )
    written = HANDED.format(claims=claims).replace("\n", "\\n")
    table = cockpit.agent(
        mode="prompt", steps=6, pause=2, step_tokens=100, draft=f"printf '{written}' > $DRAFT"
    )
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        review = (await cockpit.until(reviewed)).handoff
        assert review is not None
        paper = (cockpit.repository / str(review.document)).read_text()
        state = document.read(paper).sections["Current State"]
        assert f"src/nonexist.py {Trace.MISSING.value} was edited" in state
        assert f"src/there.py {Trace.UNCHANGED.value}," in state
        assert f"src/new.py {Trace.CHANGED.value};" in state
        assert "src/out.py" in state
        assert f"commit 1234567 {UNVERIFIED} and commit {made} {VERIFIED}." in state
        not_found = "1 commit unknown to git, 1 file not found: src/nonexist.py"
        assert review.not_found == not_found
        row = await cockpit.row()
        assert row.needs is not None
        assert f"waiting for your approval; cockpit's check: {not_found}" in row.needs.detail


@pytest.mark.long
async def test_an_edit_leaves_the_front_matter_ours(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        review = await under_review_as_given(cockpit)
        paper = cockpit.repository / str(review.document)
        text = paper.read_text()
        sealed = document.read(text).front
        text = text.replace("number: 1\n", "number: 7\n", 1).replace(
            f'worktree: "{cockpit.repository}"', 'worktree: "/etc"', 1
        )
        paper.write_text(text.replace("## Key Decisions\n", "## Key Decisions\n\nNo.\n", 1))
        await cockpit.ask(Approve(name="api", sha256=sha256(paper)))
        await cockpit.until(swapped)
        left = document.read(paper.read_text())
        assert left.front == sealed
        assert left.sections["Key Decisions"].startswith("No.")


async def test_a_change_on_disk_is_agreed_to_only_by_who_has_read_it(cockpit: Cockpit) -> None:
    """An agent can write in the folder of its documents, also while they are reviewed."""

    table = cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100)
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        review = (await cockpit.until(reviewed)).handoff
        assert review is not None
        paper = Path(str(review.document))
        (sealed,) = supervisor.dependencies.store.handoffs_named(review.id)
        paper.write_text(paper.read_text().replace("## Next Steps\n", "## Next Steps\n\nX\n"))

        refused = await cockpit.refused(Approve(name="api"))
        assert isinstance(refused, NotNow)
        assert "was changed after it was written" in refused.title
        assert f"cockpit approve api --sha256 {sha256(paper)}" in refused.hint
        stands = await cockpit.row()
        assert (stands.pid, reviewed(stands)) == (before.pid, True)
        (held,) = supervisor.dependencies.store.handoffs_named(review.id)
        assert held.sha256 == sealed.sha256
        assert await cockpit.events("handoff.edited") == []

        await cockpit.ask(Approve(name="api", sha256=sha256(paper)))
        await cockpit.until(swapped)


async def test_a_yes_is_only_for_the_document_that_was_read(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100)
    async with cockpit.flying(table):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        review = (await cockpit.until(reviewed)).handoff
        assert review is not None
        assert review.document is not None
        paper = Path(review.document)
        read = hashlib.sha256(paper.read_bytes()).hexdigest()
        paper.write_text(paper.read_text().replace("## Key Decisions\n", "## Key Decisions\n\nX\n"))

        refused = await cockpit.refused(Approve(name="api", sha256=read))
        assert isinstance(refused, NotNow)
        assert "changed since it was shown" in refused.title
        assert review.id[:8] in refused.hint
        stands = await cockpit.row()
        assert (stands.pid, reviewed(stands)) == (before.pid, True)

        text = await cockpit.client.document(review.id)
        await cockpit.ask(Approve(name="api", sha256=hashlib.sha256(text.encode()).hexdigest()))
        await cockpit.until(swapped)

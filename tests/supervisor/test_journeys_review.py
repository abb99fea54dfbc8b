"""The agent goes on while its document is under review: what the successor gets is of now."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core import document
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Send

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def commit(repository: Path, subject: str) -> str:
    """A commit like one of the agent's; its short hash."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for words in (["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", subject]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize("writer", ["agent", "facts"])
def test_facts_are_renewed_before_the_swap_and_an_edit_is_kept(
    cockpit: Cockpit, writer: str
) -> None:
    async def journey() -> None:
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
            made = commit(cockpit.repository, "Work that went on")
            await cockpit.until(lambda row: row.activity != calls)
            await cockpit.until(reviewed)
            await cockpit.ask(Approve(name="api"))
            await cockpit.until(swapped)

            text = paper.read_text()
            facts = document.read(text).sections["Verified Facts"]
            assert made not in first
            assert made in facts
            assert "Work that went on" in facts
            assert "Never on Fridays." in document.read(text).sections["Key Decisions"]
            (held,) = supervisor.instruments.store.handoffs_named(review.id)
            assert held.sha256 == hashlib.sha256(paper.read_bytes()).hexdigest()
            assert Path(str(held.copy)).read_bytes() == paper.read_bytes()
            assert held.writer == writer

    asyncio.run(journey())

"""New agents from handoff documents: cockpit's own, somebody else's, and what is none."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.documents.files import Documents
from cockpit.core.errors import BadUsage, NoSuchAgent, NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Continue, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
DATA = Path(__file__).parents[2] / "data"

NOTES = """\
## Goal
Repair the roof.

## Current Task
The tiles of the south side.

## Progress
### Completed
- North side
### In Progress
- South side
### Pending
- Chimney

## Current State
Half of the tiles lie on the ground, in order, and none is broken so far.

## Next Steps
1. Count the tiles: `ls tiles | wc -l`

## Key Decisions
Old tiles are used again, because new ones have another colour.

## What Did Not Work
Starting at the top.

## Open Issues
None.
"""


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None and row.state == "done"


def paper(cockpit: Cockpit) -> Path:
    (found,) = (cockpit.repository / ".cockpit" / "handoffs").glob("handoff-*.md")
    return found


async def test_an_agent_that_runs_is_kept_though_the_notice_cannot_be_removed(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*what: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Documents, "waiting", fail)
    notes = cockpit.repository / "notes.md"
    notes.write_text(NOTES)
    async with cockpit.flying(cockpit.agent(steps=9)):
        await cockpit.ask(
            Continue(document=str(notes), name="web", directory=str(cockpit.repository))
        )
        row = await cockpit.until(lambda row: row.pid is not None, "web")
        assert row.session_number == 1
        await cockpit.ask(Stop(name="web"))


async def test_a_new_agent_goes_on_from_what_another_one_left(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9)):
        first = await cockpit.start()
        await cockpit.until(swapped)
        left = paper(cockpit)
        busy = await cockpit.refused(Continue(document=str(left)))
        assert isinstance(busy, NotNow)
        assert "api is already running in" in busy.title

        await cockpit.ask(Stop(name="api"))
        done = await cockpit.ask(Continue(document=str(left)))
        assert done.name == "api-2"
        second = await cockpit.until(lambda row: row.activity, "api-2")
        assert (second.directory, second.worktree) == (first.directory, None)
        assert (second.session_number, second.previous_session_id) == (1, None)
        assert second.job != first.job
        assert second.note is None
        (opening,) = cockpit.prompts(second)
        assert str(left) in opening
        assert "Count the steps." in opening
        (chain,) = await cockpit.client.history("api-2")
        assert chain.goal == "Count the steps."
        assert chain.sessions[0].began_with == str(left)


@pytest.mark.long
async def test_a_document_of_somebody_elses_is_copied_to_where_it_can_be_read(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent()):
        notes = cockpit.home / "notes.md"
        notes.write_text(NOTES)
        nowhere = await cockpit.refused(Continue(document=str(notes), name="roof"))
        assert isinstance(nowhere, BadUsage)
        assert "--directory" in nowhere.hint
        asked = Continue(document=str(notes), name="roof", directory=str(cockpit.repository))
        await cockpit.ask(asked)
        roof = await cockpit.until(lambda row: row.pid is not None, "roof")
        assert roof.directory == str(cockpit.repository)
        await cockpit.until(lambda row: row.activity, "roof")
        copy = paper(cockpit)
        assert copy.read_text() == NOTES
        assert notes.read_text() == NOTES
        (opening,) = cockpit.prompts(roof)
        assert str(copy) in opening
        assert "Repair the roof." in opening
        assert "Count the tiles" in opening
        again = await cockpit.refused(asked)
        assert isinstance(again, NotNow)


@pytest.mark.long
async def test_an_agent_goes_on_from_the_record_of_another_cli(cockpit: Cockpit) -> None:
    transcript = cockpit.home / "found"
    shutil.copyfile(DATA / "codex" / "patch_and_command.jsonl", transcript)
    async with cockpit.flying(cockpit.agent("found")):
        words = ["continue", str(transcript), "--name", "found", "--runtime", "claude"]
        ran = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cockpit", *words, "--directory", str(cockpit.repository)),
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await ran.communicate()
        assert ran.returncode == 0, said
        copy = paper(cockpit)
        assert f"found (claude) continues from {copy} in {cockpit.repository}" in said.decode()
        found = await cockpit.until(lambda row: row.activity, "found")
        (opening,) = cockpit.prompts(found)
        assert str(copy) in opening
        assert str(transcript) in copy.read_text()


async def test_no_secret_of_a_foreign_document_is_copied_or_prompted(cockpit: Cockpit) -> None:
    known, shaped = "canary-4711-a8f3e1c9d2b7", "ghp_" + "a1B2c3D4e5" * 4

    notes = cockpit.home / "notes.md"
    leaky = NOTES.replace("the roof.", f"the roof with {known}.")
    notes.write_text(leaky.replace("`ls tiles", f"`curl -H {shaped} {known} && ls tiles"))
    table = cockpit.agent("roof").replace("env = {", f'env = {{ ROOF_TOKEN = "{known}",')
    async with cockpit.flying(table):
        asked = Continue(document=str(notes), name="roof", directory=str(cockpit.repository))
        await cockpit.ask(asked)
        roof = await cockpit.until(lambda row: row.activity, "roof")
        (opening,) = cockpit.prompts(roof)
        told = opening + paper(cockpit).read_text() + str(await cockpit.client.history())
        told += "".join(path.read_text() for path in cockpit.places.handoffs.glob("*.md"))
        assert "Repair the roof with [REDACTED:" in told
        assert known not in told
        assert shaped not in told


async def test_what_is_no_document_starts_nobody(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()):
        notes = cockpit.home / "notes.md"
        notes.write_text("All is well.\n")
        asked = Continue(document=str(notes), name="new", directory=str(cockpit.repository))
        assert isinstance(await cockpit.refused(asked), BadUsage)

        notes.write_text(NOTES)
        gone = asked.model_copy(update={"directory": str(cockpit.home / "gone")})
        assert isinstance(await cockpit.refused(gone), BadUsage)
        names = [row.name for row in (await cockpit.client.status()).agents]
        assert names == ["api"]


async def test_a_directory_in_a_document_that_cannot_be_used_is_refused_with_the_reason(
    cockpit: Cockpit,
) -> None:
    notes = cockpit.home / "notes.md"
    async with cockpit.flying(cockpit.agent()):
        for written, reason in (
            ("", "The document does not contain a directory."),
            ("repository", "The document's directory repository is not an absolute path."),
            ("/no/such", "The document's directory /no/such is not a directory on this machine."),
            (str(notes), f"The document's directory {notes} is not a directory on this machine."),
        ):
            front = f'---\nworktree: "{written}"\n---\n' if written else ""
            notes.write_text(front + NOTES)
            refused = await cockpit.refused(Continue(document=str(notes), name="new"))
            assert isinstance(refused, BadUsage)
            assert refused.detail == reason
            assert refused.hint == "Choose a directory: --directory DIR"


async def test_a_document_is_shown_by_the_start_of_its_id_and_by_its_path(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9)):
        await cockpit.start()
        await cockpit.until(swapped)
        ident = (await cockpit.event("handoff.confirmed")).data["handoff"]
        left = paper(cockpit)
        text = left.read_text()
        assert await cockpit.client.document(ident[:6]) == text
        assert await cockpit.client.document(str(left)) == text
        shutil.rmtree(left.parent)
        assert await cockpit.client.document(str(left)) == text
        for unknown in ("no-such", "%", "", str(cockpit.config)):
            with pytest.raises((NoSuchAgent, BadUsage)):
                await cockpit.client.document(unknown)

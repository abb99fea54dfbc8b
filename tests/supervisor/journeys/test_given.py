"""Documents that come from elsewhere: what is taken as this agent's own, and what is not."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import BadUsage
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff

if TYPE_CHECKING:
    from pathlib import Path

    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


async def written_now(cockpit: Cockpit, place: Path) -> str:
    """What would be handed on now, laid down as notes of the user's."""
    text = (await cockpit.ask(Handoff(name="api", dry_run=True))).text
    assert text is not None
    place.write_text(text)
    return text


async def test_a_link_is_no_document_neither_given_nor_edited(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        notes, link = cockpit.home / "notes.md", cockpit.home / "link.md"
        await written_now(cockpit, notes)
        link.symlink_to(notes)
        for asked in (True, False):
            wrong = await cockpit.refused(Handoff(name="api", document=str(link), dry_run=asked))
            assert isinstance(wrong, BadUsage)
            assert "symbolic link" in wrong.detail

        await cockpit.ask(Handoff(name="api", document=str(notes)))
        (paper,) = [(await cockpit.until(reviewed)).handoff]
        assert paper is not None
        assert paper.document is not None
        sealed = cockpit.repository / paper.document
        sealed.unlink()
        sealed.symlink_to(notes)
        wrong = await cockpit.refused(Approve(name="api"))
        assert isinstance(wrong, BadUsage)
        assert "symbolic link" in wrong.detail
        assert reviewed(await cockpit.row())


async def test_anothers_document_is_taken_neither_given_nor_edited(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        notes = cockpit.home / "notes.md"
        own = await written_now(cockpit, notes)
        assert first.session_id is not None
        foreign = (
            own.replace('agent: "api"', 'agent: "web"', 1),
            own.replace(first.session_id, "8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9"),
        )
        for text in foreign:
            assert text != own
            notes.write_text(text)
            wrong = await cockpit.refused(Handoff(name="api", document=str(notes)))
            assert isinstance(wrong, BadUsage)
            assert f"cockpit continue {notes}" in wrong.hint

        await cockpit.ask(Handoff(name="api"))
        review = (await cockpit.until(reviewed)).handoff
        assert review is not None
        assert review.document is not None
        sealed = cockpit.repository / review.document
        before = sealed.read_text()
        sealed.write_text(before.replace('agent: "api"', 'agent: "web"', 1))
        read = hashlib.sha256(sealed.read_bytes()).hexdigest()
        wrong = await cockpit.refused(Approve(name="api", sha256=read))
        assert isinstance(wrong, BadUsage)
        assert "not a document of api's session" in wrong.title

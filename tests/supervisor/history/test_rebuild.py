"""Which copies are taken for documents of handoffs, and what is done with the others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.config.paths import Places
from cockpit.core import front_matter
from cockpit.core.front_matter import FrontMatter
from cockpit.core.ids import AgentName, JobId
from cockpit.ports.records import JobRecord
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.rebuild import rebuild
from cockpit.supervisor.main import dependencies

GOOD = FrontMatter(
    id="h1", agent="api", job="j", old_session_id="s1", created="2026-11-21T10:00:00Z"
)


@pytest.fixture
def parts(own_home: Path) -> Iterator[Dependencies]:
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    yield parts
    parts.store.close()


def lay(parts: Dependencies, name: str, front: FrontMatter | None) -> Path:
    path = parts.places.handoffs / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = front_matter.dump(front) if front else ""
    path.write_text(f"{head}\n# Handoff\n\n## Goal\n\nCount.\n")
    return path


def told(parts: Dependencies) -> list[str]:
    return [each.text for each in parts.store.events(0, 100) if each.kind == "history.rebuilt"]


async def rebuild_now(parts: Dependencies, folder: str = ".cockpit/handoffs") -> None:
    await rebuild(parts, {"api": folder})


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "../etc"},
        {"agent": ""},
        {"job": ""},
        {"job": "a/b"},
        {"old_session_id": None},
        {"old_session_id": "../../x"},
        {"new_session_id": "a b"},
        {"created": "once"},
        {"number": 0},
    ],
)
async def test_a_paper_that_does_not_say_whose_it_is_is_left_aside(
    parts: Dependencies, change: dict[str, object]
) -> None:
    odd = lay(parts, "h1", replace(GOOD, **change))  # type: ignore[arg-type]
    before = odd.read_bytes()
    await rebuild_now(parts)
    assert parts.store.jobs() == []
    assert "1 file ignored" in told(parts)[0]
    assert odd.read_bytes() == before


async def test_what_is_odd_or_no_document_keeps_no_other_one_back(parts: Dependencies) -> None:
    lay(parts, "h1", GOOD)
    lay(parts, "notes", None)
    lay(parts, "copy-for-another-agent", GOOD)
    lay(parts, "draft-h9", replace(GOOD, id="draft-h9"))
    (parts.places.handoffs / "bytes.md").write_bytes(b"\xff\x00" * 500)
    (parts.places.handoffs / "large.md").write_bytes(b"x" * 5_000_000)
    (parts.places.handoffs / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(parts.places.handoffs / "pipe.md")
    await rebuild_now(parts)
    assert [each.id for each in parts.store.handoffs(JobId("j"))] == ["h1"]
    assert "1 job rebuilt from 1 document; 5 files ignored" in told(parts)[0]


async def test_a_document_of_a_session_outside_cockpit_is_neither_rebuilt_nor_an_odd_file(
    parts: Dependencies,
) -> None:
    lay(parts, "h1", GOOD)
    lay(parts, "h2", replace(GOOD, id="h2", agent="", job=""))
    await rebuild_now(parts)
    assert [each.id for each in parts.store.handoffs(JobId("j"))] == ["h1"]
    (text,) = told(parts)
    assert "1 job rebuilt from 1 document" in text
    assert "ignored" not in text


async def test_archived_copies_count_and_the_document_is_found_where_it_lies(
    parts: Dependencies, tmp_path: Path
) -> None:
    copy = lay(parts, "h1", replace(GOOD, worktree=str(tmp_path)))
    (tmp_path / "papers").mkdir()
    own = tmp_path / "papers" / "handoff-2026-11-21-100000.md"
    own.write_bytes(copy.read_bytes())
    os.mkfifo(tmp_path / "papers" / "handoff-pipe.md")
    parts.documents.copies.archive("h1")
    await rebuild_now(parts, "papers")
    (handoff,) = parts.store.handoffs(JobId("j"))
    assert handoff.document == str(own)
    assert handoff.copy == str(parts.documents.copies.archived("h1"))
    assert parts.store.job(JobId("j")).prompt == "Count."  # type: ignore[union-attr]


async def test_sessions_of_every_cli_are_read_back(parts: Dependencies) -> None:
    theirs = "ses_01JD4Q0VX8eXAmPLE"
    lay(parts, "h1", replace(GOOD, old_session_id=theirs, new_session_id="ses_2"))
    await rebuild_now(parts)
    assert [each.id for each in parts.store.chain(JobId("j"))] == [theirs]


async def test_the_last_session_of_a_chain_is_there_if_its_record_is(
    parts: Dependencies, tmp_path: Path
) -> None:
    first = replace(
        GOOD, worktree=str(tmp_path), transcript=str(tmp_path / "s1.jsonl"), new_session_id="s2"
    )
    second = replace(
        GOOD,
        id="h2",
        number=2,
        created="2026-11-21T11:00:00Z",
        old_session_id="s2",
        worktree=str(tmp_path),
        transcript=str(tmp_path / "s2.jsonl"),
        new_session_id="s3",
    )
    lay(parts, "h1", first)
    lay(parts, "h2", second)
    await rebuild_now(parts)
    assert [each.id for each in parts.store.chain(JobId("j"))] == ["s1", "s2"]

    parts.store.close()
    for path in parts.places.database.parent.glob(f"{parts.places.database.name}*"):
        path.unlink()
    (tmp_path / "s3.jsonl").write_text("{}\n")
    again = dependencies(parts.places)
    await rebuild_now(again)
    assert [each.id for each in again.store.chain(JobId("j"))] == ["s1", "s2", "s3"]
    again.store.close()


async def test_nothing_is_read_back_where_anything_is_on_record(parts: Dependencies) -> None:
    lay(parts, "h1", GOOD)
    parts.store.add_job(JobRecord(JobId("k"), AgentName("web"), "x", 1.0))
    await rebuild_now(parts)
    assert [each.id for each in parts.store.jobs()] == ["k"]
    assert told(parts) == []


async def test_a_first_start_tells_nothing(parts: Dependencies) -> None:
    await rebuild_now(parts)
    assert told(parts) == []

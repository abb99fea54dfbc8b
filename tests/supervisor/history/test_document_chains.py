"""Chains out of documents alone: who came after whom, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cockpit.core.front_matter import FrontMatter
from cockpit.core.handoff.details import HandoffDetails
from cockpit.supervisor.history.document_chains import (
    RebuiltHistory,
    Source,
    rebuild_history,
    seconds,
)

FOLDER = "/w/.cockpit/handoffs"


def paper(
    ident: str, number: int, old: str, new: str | None, hour: int, **more: str | float | None
) -> Source:
    """A document of session `old` that was written at that hour; it had begun an hour before."""
    front = FrontMatter(
        id=ident,
        number=number,
        agent="api",
        job="j",
        worktree="/w",
        old_session_id=old,
        new_session_id=new,
        tokens=hour * 1000,
        trigger="threshold",
        writer="agent",
        created=f"2026-11-21T{hour:02}:00:00Z",
        started=f"2026-11-21T{hour - 1:02}:00:00Z",
        transcript=f"/records/{old}.jsonl",
        cost_usd=hour / 10,
    )
    front = replace(front, **more)  # type: ignore[arg-type]
    return Source(front, "Count.", f"{FOLDER}/{ident}.md", f"/copies/{ident}.md", "0" * 64)


def read_back(*papers: Source, records: Mapping[str, float] | None = None) -> RebuiltHistory:
    there = records or {}
    return rebuild_history(papers, lambda path: there.get(path))


def chain(found: RebuiltHistory) -> list[tuple[str, int, str | None, str]]:
    return [(each.id, each.number, each.previous, each.state) for each in found.sessions]


def outcomes(found: RebuiltHistory) -> dict[str, tuple[str | None, str | None]]:
    return {each.id: (each.outcome, each.new_session) for each in found.handoffs}


def test_a_document_and_the_next_one_are_a_swap() -> None:
    found = read_back(
        paper("b", 2, "s2", "s3", 12, previous_document=f"{FOLDER}/a.md"),
        paper("a", 1, "s1", "s2", 10),
    )
    assert chain(found) == [("s1", 1, None, "handed_off"), ("s2", 2, "s1", "ended")]
    assert outcomes(found) == {"a": ("done", "s2"), "b": ("unknown", None)}
    (job,) = found.jobs
    assert (job.id, job.prompt, job.created) == ("j", "Count.", seconds("2026-11-21T09:00:00Z"))
    first, second = found.sessions
    assert (first.tokens, first.cost_usd, first.ended) == (
        10_000,
        1.0,
        seconds("2026-11-21T10:00:00Z"),
    )
    assert (second.document, second.created) == (f"{FOLDER}/a.md", seconds("2026-11-21T11:00:00Z"))
    assert [each.id for each in found.handoffs] == ["a", "b"]
    assert all(
        each.ended and each.details == HandoffDetails(rebuilt=True) for each in found.handoffs
    )


def test_the_last_session_is_known_by_its_record() -> None:
    found = read_back(paper("a", 1, "s1", "s2", 10), records={"/records/s2.jsonl": 77.0})
    assert chain(found) == [("s1", 1, None, "handed_off"), ("s2", 2, "s1", "ended")]
    last = found.sessions[-1]
    assert (last.transcript, last.ended) == ("/records/s2.jsonl", 77.0)
    assert (last.tokens, last.cost_usd, last.document) == (None, None, f"{FOLDER}/a.md")


def test_a_session_without_transcript_ended_at_its_last_document_at_the_earliest() -> None:
    (session,) = read_back(paper("a", 1, "s1", None, 10)).sessions
    assert session.created == seconds("2026-11-21T09:00:00Z")
    assert session.ended == seconds("2026-11-21T10:00:00Z")


@pytest.mark.parametrize("previous", [f"{FOLDER}/a.md", "/gone/handoff.md", None])
def test_a_successor_that_was_not_the_first_tried_is_found(previous: str | None) -> None:
    found = read_back(
        paper("a", 1, "s1", "tried", 10),
        paper("b", 2, "s2", None, 12, previous_document=previous),
    )
    assert chain(found) == [("s1", 1, None, "handed_off"), ("s2", 2, "s1", "ended")]
    assert outcomes(found)["a"] == ("done", "s2")


def test_the_path_that_a_document_names_counts_more_than_its_place() -> None:
    found = read_back(
        paper("a", 1, "s1", "tried", 10),
        paper("b", 2, "s2", None, 11, started=""),
        paper("c", 3, "s3", None, 14, previous_document=f"{FOLDER}/a.md"),
        records={},
    )
    assert next(each.previous for each in found.sessions if each.id == "s3") == "s1"


def test_a_document_that_was_refused_is_no_swap() -> None:
    found = read_back(
        paper("a", 1, "s1", "never", 10),
        paper("b", 1, "s1", "s2", 11, started="2026-11-21T09:00:00Z"),
        paper("c", 2, "s2", "s3", 13, started="2026-11-21T11:00:01Z"),
    )
    assert chain(found) == [("s1", 1, None, "handed_off"), ("s2", 2, "s1", "ended")]
    assert outcomes(found) == {
        "a": ("unknown", None),
        "b": ("done", "s2"),
        "c": ("unknown", None),
    }
    assert found.sessions[0].tokens == 11_000


def test_what_was_undone_keeps_its_place() -> None:
    found = read_back(
        paper("a", 1, "s1", "s2", 10),
        paper("b", 1, "s1", "s3", 12, started="2026-11-21T09:00:00Z"),
        paper("c", 3, "s3", None, 14),
        records={"/records/s2.jsonl": 77.0},
    )
    assert chain(found) == [
        ("s1", 1, None, "handed_off"),
        ("s2", 2, "s1", "undone"),
        ("s3", 3, "s1", "ended"),
    ]


def test_jobs_are_kept_apart() -> None:
    other = paper("x", 1, "t1", None, 11, job="k", agent="web")
    found = read_back(paper("a", 1, "s1", None, 10), other, paper("b", 1, "s1", None, 12))
    assert [(each.id, each.agent) for each in found.jobs] == [("j", "api"), ("k", "web")]
    assert [each.id for each in found.handoffs] == ["a", "b", "x"]


def test_a_record_of_another_name_tells_nothing_of_what_lies_beside_it() -> None:
    odd = paper("a", 1, "s1", "s2", 10, transcript="/elsewhere/notes.jsonl")
    none = paper("b", 1, "t1", "t2", 10, transcript=None, job="k")
    found = read_back(odd, none, records={"/elsewhere/s2.jsonl": 1.0})
    assert [each.id for each in found.sessions] == ["s1", "t1"]


def test_a_moment_that_is_none_is_not_made_up() -> None:
    assert seconds("yesterday") is None
    assert seconds("1970-01-01T00:01:00") == seconds("1970-01-01T00:01:00Z") == 60.0
    (session,) = read_back(paper("a", 1, "s1", None, 10, started="")).sessions
    assert session.created == seconds("2026-11-21T10:00:00Z")

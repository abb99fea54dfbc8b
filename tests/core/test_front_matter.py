"""Front matter: hostile values end nothing, and reading never raises."""

from __future__ import annotations

import json
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.front_matter import FrontMatter, dump, first_section_line, load, split
from cockpit.core.markdown import plain

FULL = FrontMatter(
    id="8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9",
    number=2,
    previous_document="/w/.cockpit/handoffs/handoff-2026-11-20-101010.md",
    agent="api",
    job="j",
    worktree="/w",
    branch="agent/api/lin-42",
    head_commit="0123456789abcdef0123456789abcdef01234567",
    old_session_id="old",
    new_session_id="new",
    tokens=142_000,
    window=200_000,
    percent=71.0,
    confidence="reported",
    trigger="threshold",
    writer="agent",
    created="2026-11-21T20:15:00Z",
    started="2026-11-21T19:34:00Z",
    transcript="/home/p/.claude/projects/w/old.jsonl",
    cost_usd=0.41,
    redactions=3,
)


def test_a_preview_has_no_id_yet() -> None:
    text = dump(replace(FULL, id=""))
    assert "id:" not in [line.split(" ")[0] for line in text.split("\n")]
    assert load(text)[0] == replace(FULL, id="")


def test_every_field_comes_back() -> None:
    front, body = load(dump(FULL) + "\n# Handoff\n")
    assert front == FULL
    assert body == "\n# Handoff\n"
    assert all(getattr(FULL, field.name) is not None for field in fields(FULL))


def test_what_is_not_known_is_null() -> None:
    assert "tokens: null\n" in dump(FrontMatter())
    assert load(dump(FrontMatter()))[0] == FrontMatter()


@given(st.text(), st.text())
def test_no_value_ends_or_begins_another(branch: str, worktree: str) -> None:
    text = dump(replace(FULL, branch=branch, worktree=worktree))
    assert len(text.split("\n")) == len(fields(FULL)) + 2 + bool(FULL.writers_failed)
    front, body = load(text + "## Goal")
    assert front == replace(FULL, branch=plain(branch), worktree=plain(worktree))
    assert body == "## Goal"


def test_who_was_to_write_and_did_not_is_written_only_then() -> None:
    assert "writers_failed" not in dump(FrontMatter())
    text = dump(FrontMatter(writers_failed="agent: too late"))
    assert load(text)[0] == FrontMatter(writers_failed="agent: too late")


@given(st.text())
def test_every_value_is_json_on_one_line_of_printable_characters(branch: str) -> None:
    line = next(row for row in dump(FrontMatter(branch=branch)).split("\n") if "branch" in row)
    assert json.loads(line.partition(":")[2]) == plain(branch)
    assert "\u2028" not in line
    assert "\ufffe" not in line


@given(st.text())
def test_reading_never_raises(text: str) -> None:
    load(text)
    load("---\n" + text)
    load(f"---\nnumber: {text}\ntokens: [{text}\n---\n")


def test_a_value_of_another_type_has_its_default() -> None:
    front, _ = load('---\nnumber: "2"\ntokens: true\npercent: NaN\nagent: 7\nid: "x"\n---\n')
    assert front == FrontMatter(id="x")


def test_only_the_very_start_is_front_matter() -> None:
    assert split("text\n---\nid: 1\n---\n")[0] is None
    assert split("---\nnever closed\n" + "x\n" * 200)[0] is None
    assert split("\ufeff---\nid: 1\n...\nrest") == (["id: 1"], "rest")


def test_the_first_section_is_found_below_the_front_matter_or_without_one() -> None:
    body = "\n# Handoff\n\n## Goal\n\nx\n"
    whole = dump(FrontMatter(job="## no heading")) + body
    assert whole.splitlines()[first_section_line(whole) - 1] == "## Goal"
    assert first_section_line(body) == 4
    assert first_section_line("nothing") == 1

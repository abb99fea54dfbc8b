"""What holds over a chain: until it is revoked in so many words, and never dropped silently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core import chain_memory
from cockpit.core.chain_memory import (
    CARRIED,
    DECISIONS,
    Place,
    dropped,
    fold,
    with_dropped,
)
from cockpit.core.document import CONSTRAINTS, read
from cockpit.core.statements import names, says, statements


def paper(decisions: str = "None.", constraints: str = "", others: str = "") -> str:
    own = f"## Constraints from the user\n\n{constraints}\n\n" if constraints else ""
    return f"# Handoff\n\n{own}## Key Decisions\n\n{decisions}\n{others}"


def chain(*papers: str) -> chain_memory.ChainMemory:
    return fold((Place(number), read(text)) for number, text in enumerate(papers, 1))


def texts(memory: chain_memory.ChainMemory) -> list[str]:
    return [each.text for each in memory.standing]


def test_statements_are_items_and_paragraphs_with_what_is_below_them() -> None:
    body = """\
Decisions so far:

1. Use SQLite:
   - one file
   - no server
2. **Never** push to `main`.

   The user said so twice.

### Details

A paragraph over
two lines.

```sh
- no item
```
- None.
"""
    assert statements(body).stated == (
        "Use SQLite: one file no server",
        "**Never** push to `main`. The user said so twice.",
        "A paragraph over two lines. - no item",
    )


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("Use SQLite", "use **SQLite**."),
        ("Use SQLite, because it is one file", "Use SQLite because no server is needed"),
        ("Never push to main (user, turn 41)", "Do not push to `main`"),
        ("Don’t push to main", "Never push to main"),
        ("Turn 3: stick to tabs", "Stick to tabs (turn 3)"),
        ("Stick to tabs in every file", "Stick to tabs"),
        ("Nicht nach main pushen, weil CI ausrollt", "Nicht nach main pushen"),
        ("Keep commit dead999", "Keep commit dead999 (not checked: git was not asked)"),
    ],
)
def test_the_same_in_other_words_still_stands(later: str, earlier: str) -> None:
    assert says(later, earlier)


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("Push to main", "Never push to main"),
        ("Never push to main", "Push to main"),
        ("Use PostgreSQL where we use SQLite today", "Use SQLite"),
        ("Use SQLite only in tests", "Use SQLite"),
        ("Use SQLite (replaced by PostgreSQL)", "Use SQLite"),
        ("Config format: YAML", "Config format: TOML"),
        ("Copy from B to A", "Copy from A to B"),
        ("Wait 30 seconds", "Wait 60 seconds"),
        ("Stick to tabs", "Stick to tabs in every file"),
        ("", "Use SQLite"),
    ],
)
def test_what_may_be_something_else_counts_as_something_else(later: str, earlier: str) -> None:
    assert not says(later, earlier)


def test_decisions_and_constraints_accumulate_over_a_chain() -> None:
    memory = chain(
        paper("- Use SQLite", "- Never push"),
        paper("- Tabs, not spaces"),
        paper("- Use SQLite, because it is one file"),
    )
    found = [(one.section, one.text, one.since.number, one.last.number) for one in memory.standing]
    assert found == [
        (CONSTRAINTS, "Never push", 1, 1),
        (DECISIONS, "Use SQLite, because it is one file", 1, 3),
        (DECISIONS, "Tabs, not spaces", 2, 2),
    ]


@pytest.mark.parametrize(
    "ending",
    [
        "- Revoked: never push to main. The user allowed it in turn 7.",
        "- **Revoked:** Do not push to main",
        "- Revoked (user, turn 7): Never push to main",
        "Revoked: Never push to main",
        "- ~~Never push to main~~",
        "- ~~Never push to main~~ (the user allowed it)",
        "- Never push to main\n  Revoked: the user allowed it in turn 7.",
        "- Revoked: Never push",
    ],
)
def test_a_statement_ends_where_a_later_document_says_so(ending: str) -> None:
    memory = chain(paper("- Use SQLite", "- Never push to main"), paper(ending))
    assert texts(memory) == ["Use SQLite"]
    ((revoked),) = memory.revoked
    assert (revoked.statement.text, revoked.by) == ("Never push to main", Place(2))


@pytest.mark.parametrize(
    "silence",
    [
        "None.",
        "- Push to main when the tests are green",
        "- Revoked certificates are refused: see `auth.py`",
        "- The rule never to push to main was revoked",
        "- Revoked: pushing",
        "- Revoked:",
        "- The user no longer minds pushes",
        "- Revoked: never push to",
    ],
)
def test_nothing_else_ends_a_statement(silence: str) -> None:
    before = paper("- Use SQLite", "- Never push to main\n- Never push to release branches")
    memory = chain(before, paper(silence))
    assert {"Never push to main", "Never push to release branches", "Use SQLite"} <= set(
        texts(memory)
    )
    assert memory.revoked == ()


def test_a_revoked_statement_can_be_stated_again() -> None:
    memory = chain(
        paper("- Use SQLite"), paper("- Revoked: Use SQLite"), paper("- Use SQLite after all")
    )
    assert texts(memory) == ["Use SQLite after all"]
    assert memory.standing[0].since == Place(3)


def test_what_a_document_drops_is_added_with_the_session_in_which_it_stood() -> None:
    memory = chain(paper("- Use SQLite\n- Tabs, not spaces"), paper("- Tabs, not spaces"))
    missing = dropped(memory, read(paper("- Tabs, not spaces\n- Use uv")))
    assert [each.text for each in missing] == ["Use SQLite"]
    body = with_dropped("- Tabs, not spaces\n- Use uv", missing)
    assert CARRIED in body
    assert "\n- Use SQLite (dropped since session 1; added by cockpit)" in body
    assert chain_memory.dropped_in(f"## Key Decisions\n{body}") == [("Key Decisions", "session 1")]

    # The next document is held against all of it, and cockpit's own words are no statement.
    after = chain(
        paper("- Use SQLite\n- Tabs, not spaces"), paper("- Tabs, not spaces"), paper(body)
    )
    assert set(texts(after)) == {"Use SQLite", "Tabs, not spaces", "Use uv"}
    (lost,) = [each for each in after.standing if each.text == "Use SQLite"]
    assert (lost.since, lost.last) == (Place(1), Place(1))
    # Where only the last document is left, nothing of the chain is lost.
    alone = fold([(Place(3), read(paper(body)))])
    assert set(texts(alone)) == set(texts(after))
    assert dropped(memory, read(paper("- Revoked: Use SQLite\n- Tabs, not spaces"))) == ()


@pytest.mark.parametrize(
    "edited",
    [
        "- ~~Use SQLite~~ (dropped since session 1; added by cockpit)",
        "- ~~Use SQLite (dropped since session 1; added by cockpit)~~",
        "- Revoked: Use SQLite (dropped since session 1; added by cockpit)",
    ],
)
def test_a_line_of_cockpits_can_be_revoked_in_the_review(edited: str) -> None:
    memory = chain(paper("- Use SQLite"), paper(f"{CARRIED}\n\n{edited}"))
    assert texts(memory) == []
    assert [each.by for each in memory.revoked] == [Place(2)]


def test_a_writer_that_copies_cockpits_lines_states_them() -> None:
    memory = chain(paper("- Use SQLite"))
    copied = with_dropped("None.", dropped(memory, read(paper())))
    draft = read(chain_memory.as_own(paper(copied)))
    assert dropped(memory, draft) == ()
    assert "added by cockpit" not in draft.sections["Key Decisions"]


def test_constraints_are_found_where_an_earlier_version_put_them() -> None:
    notes = "\n## Other Notes\n\n### Constraints from the user\n\n- Never push\n\n### More\n\n- x\n"
    assert texts(chain(paper("- Use SQLite", others=notes))) == ["Never push", "Use SQLite"]


def test_an_earlier_job_is_named_by_its_agent() -> None:
    memory = fold([(Place(2, "api"), read(paper("- Use SQLite"))), (Place(1), read(paper()))])
    (lost,) = dropped(memory, read(paper()))
    assert lost.label == " (dropped since session 2 of api; added by cockpit)"


def test_a_revocation_of_two_statements_at_once_revokes_none() -> None:
    assert names("never push", ["Never push to main", "Never push tags"]) is None
    assert names("never push tags", ["Never push to main", "Never push tags"]) == 1


@given(st.text(max_size=300))
def test_any_text_is_read_and_carried_as_lines_of_one_section(text: str) -> None:
    memory = chain(paper(text))
    missing = dropped(memory, read(paper()))
    assert [each.text for each in missing] == texts(memory)
    body = with_dropped("None.", missing)
    whole = read(paper(body) + "\n## Open Issues\n\nNone.\n")
    assert "Open Issues" in whole.sections
    assert len(chain_memory.dropped_in(body)) == len(missing)

"""What a document is: read leniently, judged in words that its writer can act on."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.document import (
    LARGEST,
    LARGEST_DRAFT,
    REQUIRED,
    SECTIONS,
    first_step,
    is_runnable,
    read,
    says_nothing,
    validate,
)

BODIES = {
    "Current Task": "Give the login form its second factor, as the goal asks.",
    "Progress": "### Completed\n\nThe model and its migration.\n\n### In Progress\n\nThe view.\n\n"
    "### Pending\n\nThe mail.",
    "Current State": "`src/auth.py` lines 40 to 92 hold the new check; tests are red in one place.",
    "Next Steps": "1. Run `make test`; one test of the mail fails.\n2. Write the mail.",
    "Key Decisions": "TOTP and not SMS: no provider is needed. Look again if support asks.",
    "What Did Not Work": "pyotp 1.0: its clock drift cannot be set.",
    "Open Issues": "None.",
    "Background Work": "None.",
}


def draft(**changed: str | None) -> str:
    bodies: dict[str, str | None] = {**BODIES, **changed}
    kept = [f"## {title}\n\n{body}" for title, body in bodies.items() if body is not None]
    return "# Handoff\n\n" + "\n\n".join(kept) + "\n"


def kinds(text: str, *, complete: bool = False) -> list[str]:
    return [problem.kind for problem in validate(text, complete=complete)]


def test_a_good_draft_has_no_problem() -> None:
    assert validate(draft()) == []


def test_a_size_just_above_the_limit_is_not_shown_as_the_limit() -> None:
    whole = validate("x" * (LARGEST + 1))
    assert [str(found) for found in whole] == ["The document has 257 KiB; the limit is 256 KiB."]
    own = validate(draft(**{"Open Issues": "x" * LARGEST_DRAFT}))
    assert [str(found) for found in own] == [
        "The text of the writer's sections has 129 KiB; the limit is 128 KiB."
    ]


@pytest.mark.parametrize("title", REQUIRED)
def test_each_required_section_is_missed(title: str) -> None:
    found = validate(draft(**{title: None}))
    assert [problem.kind for problem in found] == ["missing"]
    assert f"`## {title}`" in str(found[0])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["empty"]),
        (" \n\t", ["empty"]),
        ("x", ["missing"] * 7 + ["too-short"]),
        ("## Goal\n\n" + "x" * LARGEST, ["too-long"]),
        (draft(**{"Open Issues": "x" * LARGEST_DRAFT}), ["too-long"]),
        (draft(**{"Current Task": "None."}), ["says-nothing"]),
        (draft(**{"Next Steps": "_None_"}), ["says-nothing"]),
        (draft(**{"Next Steps": "1. Think about it."}), ["not-runnable"]),
        (draft(**{"Open Issues": "\x1b]52;c;x\x07"}), ["control-bytes"]),
        (draft(**{"Current State": "```\nnever closed"}), ["open-fence"] + ["missing"] * 4),
    ],
)
def test_what_is_wrong_is_named(text: str, found: list[str]) -> None:
    assert kinds(text) == found


def test_what_cockpit_mends_needs_no_second_request() -> None:
    bad = draft(**{"Next Steps": "Think.", "Open Issues": "\0"})
    assert all(problem.mends for problem in validate(bad))


def test_a_whole_document_has_every_section_and_front_matter() -> None:
    missing = validate(draft(), complete=True)
    assert [str(problem) for problem in missing] == [
        "The section `## Goal` is missing.",
        "The section `## Verified Facts` is missing.",
        "The section `## Links` is missing.",
        "The section `## Instructions for the Successor` is missing.",
        "The front matter is missing.",
    ]


@pytest.mark.parametrize(
    "spelling",
    [
        "## Next Steps",
        "## next steps:",
        "##  NEXT  STEPS ##",
        "## **Next Steps**",
        "# Next Steps",
        "## 4. Next Steps",
        "## `Next Steps`",
        "## Next step",
    ],
)
def test_a_heading_is_known_in_its_usual_spellings(spelling: str) -> None:
    assert read(f"{spelling}\n\nRun `make`.\n").sections == {"Next Steps": "Run `make`."}


def test_sections_come_in_their_order_and_doubles_are_joined() -> None:
    document = read("## Open Issues\na\n## Goal\ng\n## Open Issues\nb\n")
    assert list(document.sections.items()) == [("Goal", "g"), ("Open Issues", "a\n\nb")]


def test_a_heading_inside_of_code_is_code() -> None:
    document = read("## Goal\n\n```\n## Next Steps\n```\n")
    assert list(document.sections) == ["Goal"]
    assert document.goal == "## Next Steps"


def test_front_matter_of_the_writers_own_is_no_section_and_no_opening() -> None:
    document = read('---\nagent: "root"\nmode: bypass\n---\n' + draft())
    assert document.opening == ""
    assert list(document.sections) == list(BODIES)


@pytest.mark.parametrize("fence", ["```", "````markdown", "~~~md"])
def test_a_document_wrapped_in_one_code_block_is_unwrapped(fence: str) -> None:
    body = draft(**{"Next Steps": "```sh\nmake\n```"})
    text = f"\n{fence}\n{body}{fence.rstrip('markdown')}\n"
    assert read(text).sections == read(body).sections
    assert validate(text) == []


def test_what_has_no_place_is_kept() -> None:
    document = read("Hello.\n\n# Handoff: COMPLETE\n\n## Weather\n\nRain.\n\n## Goal\n\ng\n")
    assert document.opening == "Hello."
    assert document.others == {"Weather": "Rain."}


def test_a_spelling_of_verified_facts_is_verified_facts() -> None:
    assert list(read("## Verified facts (checked by cockpit)\nx").sections) == ["Verified Facts"]


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ("1. Run `make`.\n2. Then b.", "Run `make`."),
        ("Do this:\n\n- a\n  more\n- b", "a\n  more"),
        ("Run it:\n\n```sh\nmake\n```\n\nThen more.", "Run it:\n\n```sh\nmake\n```"),
        ("```sh\nmake\n```\n\nThen.", "```sh\nmake\n```"),
        ("First.\n\nSecond.", "First."),
        ("```\n- not a list\n```\n1. a", "a"),
        ("None.", None),
        ("", None),
    ],
)
def test_the_first_step(body: str, step: str | None) -> None:
    assert first_step(body) == step


@pytest.mark.parametrize(
    ("step", "runs"),
    [("Run `make`.", True), ("```\nmake\n```", True), ("$ make", True), ("Think.", False)],
)
def test_a_step_is_runnable_if_it_names_a_command(step: str, runs: bool) -> None:
    assert is_runnable(step) is runs


@pytest.mark.parametrize("body", ["", "None.", "none", "**None.**", "- None", "N/A", "None known."])
def test_saying_nothing(body: str) -> None:
    assert says_nothing(body)


@pytest.mark.parametrize("body", ["None of the tests pass.", "Nothing works since yesterday"])
def test_saying_something(body: str) -> None:
    assert not says_nothing(body)


@given(st.text())
def test_any_text_is_a_document(text: str) -> None:
    document = read(text)
    validate(text)
    assert set(document.sections) <= set(SECTIONS)
    assert document.goal is None or document.goal


@pytest.mark.parametrize("text", ["## a\n" * 50_000, "- \n" * 80_000, "`" * 250_000, "#" * 250_000])
def test_no_text_makes_it_slow(text: str) -> None:
    begun = time.process_time()
    validate("## Next Steps\n" + text)
    assert time.process_time() - begun < 20

"""A document without a model has a maximum size, and loses what matters least first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.core.composition import DocumentInput, compose
from cockpit.core.document import validate
from cockpit.core.facts import (
    Answer,
    Constraint,
    Facts,
    Failure,
    Plan,
    Prompt,
    Summary,
    Todo,
    ToolRefusal,
)
from cockpit.core.facts_budget import estimated_tokens, within
from cockpit.core.facts_draft import draft_from_facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.verified_facts import GitView

GIT = GitView(is_repository=True, branch="b", head="h", root="/w")
SMALL = Facts(
    goal="go", prompts=(Prompt(2, "on"),), constraints=(Constraint(1, "Never push."),),
    plan=Plan("1. Count"), summary=Summary(1, "Counted."), last_reply="Done.",
)  # fmt: skip
LARGE = Facts(
    goal="go",
    prompts=tuple(Prompt(turn, f"prompt {turn} " + "word " * 400) for turn in range(2, 7)),
    todos=tuple(Todo(f"todo {one} " + "word " * 10, "pending") for one in range(200)),
    constraints=tuple(Constraint(turn, f"Never do {turn}. " + "x " * 90) for turn in range(40)),
    refusals=tuple(ToolRefusal(turn, "Bash x", "no " * 300) for turn in range(20)),
    answers=tuple(Answer(turn, "which? " * 50, "that " * 50) for turn in range(20)),
    failures=tuple(Failure(f"Bash {one}", "error " * 40) for one in range(10)),
    files_modified=tuple(f"/w/src/{one}.py" for one in range(500)),
    plan=Plan("step " * 3_000),
    summary=Summary(3, "It was. " * 3_000),
    last_reply="Reply. " * 2_000,
)


def composed(facts: Facts, tokens: int) -> tuple[str, str]:
    kept, git, cut = within(facts, GIT, None, tokens)
    draft = draft_from_facts(kept, git, cut=cut)
    assert validate(draft) == []
    text = compose(DocumentInput(draft, FrontMatter(id="h"), kept, git, None))
    assert validate(text, complete=True) == []
    return text, cut


def test_nothing_is_cut_that_fits() -> None:
    assert within(SMALL, GIT, None, 6_000) == (SMALL, GIT, "")


@pytest.mark.parametrize("tokens", [500, 2_000, 6_000, 20_000])
def test_the_document_is_not_much_larger_than_allowed(tokens: int) -> None:
    text, cut = composed(LARGE, tokens)
    assert estimated_tokens(text) <= tokens * 1.1 + 900
    assert cut
    assert cut in text


def test_the_files_that_were_read_most_often_are_kept() -> None:
    many = Facts(most_read=tuple((f"/w/{'deep/' * 20}{n}.py", 99 - n) for n in range(30)))
    kept, _, cut = within(many, GIT, "Count.", 1_200)
    assert 0 < len(kept.most_read) < 30
    assert kept.most_read == many.most_read[: len(kept.most_read)]
    assert "often read files" in cut


def test_a_text_counts_only_as_far_as_it_is_quoted() -> None:
    long = Facts(refusals=tuple(ToolRefusal(turn, "Bash x", "no " * 600) for turn in range(8)))
    kept, _, cut = within(long, GIT, None, 6_000)
    assert (len(kept.refusals), cut) == (8, "")


def test_the_newest_prompts_and_orders_are_kept_and_the_least_is_cut_first() -> None:
    kept, _, cut = within(LARGE, GIT, None, 6_000)
    assert kept.prompts[-1].turn == 6
    assert kept.constraints[-1] == LARGE.constraints[-1]
    assert kept.summary is not None
    assert kept.summary.text.startswith("It was.")
    assert len(kept.files_modified) < len(LARGE.files_modified)
    assert "changed files" in cut
    assert "the end of the summary" in cut


def test_a_summary_is_kept_whole_where_there_is_room() -> None:
    summary = Summary(3, "It was. " * 1_500)
    kept, _, cut = within(replace(SMALL, summary=summary), GIT, None, 6_000)
    assert (kept.summary, cut) == (summary, "")


def test_other_scripts_count_more() -> None:
    assert estimated_tokens("\u6f22" * 100) > estimated_tokens("a" * 100)

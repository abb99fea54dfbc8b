"""The request: short, factual, and with everything that a writer has to know."""

from __future__ import annotations

from typing import get_args

import pytest

from cockpit.core.document import ASKED, Problem
from cockpit.core.fact_lines import REMINDED, reminder
from cockpit.core.facts import Answer, Check, Constraint, Facts, Link, ToolRefusal
from cockpit.core.request import (
    LONGEST,
    Occasion,
    ask_again,
    ask_to_end,
    note_warning,
    request,
    request_reply,
)

PATH = "/" + "directory/" * 27 + "draft-0a1b2c3d.md"


@pytest.mark.parametrize("occasion", get_args(Occasion))
def test_a_request_is_short_and_names_everything(occasion: Occasion) -> None:
    text = request(PATH, occasion, used="142k of 200k tokens")
    assert len(text) <= LONGEST
    assert PATH in text.split("\n")
    assert "(142k of 200k tokens)" in text
    assert all(f"`## {title}`" in text for title in ASKED)
    assert "did not work" in text
    assert "end your turn" in text


def test_a_full_context_is_named_only_where_it_is_why() -> None:
    for text in (request(PATH, "tool", used="142k", filling=False), request_reply(filling=False)):
        assert "filling up" not in text
        assert "new session" in text
    assert "filling up (142k)" in request_reply(used="142k")


def test_the_warning_asks_for_commits_but_for_no_document_yet() -> None:
    text = note_warning("142k of 200k tokens")
    assert "filling up (142k of 200k tokens). No handoff document is needed yet. Commit " in text
    assert "filling up. No " in note_warning(None)


def test_only_in_the_middle_of_a_turn_there_is_a_step_to_finish() -> None:
    assert "Finish the current step" in request(PATH, "tool")
    assert "Finish" not in request(PATH, "stop") + request(PATH, "prompt")


@pytest.mark.parametrize("word", ["must", "never", "immediately", "critical", "IMPORTANT", "!"])
def test_it_neither_orders_about_nor_threatens(word: str) -> None:
    texts = request(PATH, "tool") + request(PATH, "prompt") + ask_again(PATH, ["x"]) + ask_to_end()
    assert word not in texts


def test_a_complete_document_asks_for_nothing_but_the_end_of_the_turn() -> None:
    assert "end your turn" in ask_to_end()
    assert "Write" not in ask_to_end()


def test_asking_again_tells_what_is_wrong() -> None:
    wrong: list[Problem | str] = [Problem("missing", "The section `## Goal` is missing."), "Short."]
    text = ask_again(PATH, wrong)
    assert "\n- The section `## Goal` is missing.\n- Short.\n" in text
    assert PATH in text.split("\n")


def test_asking_again_stays_short_whatever_is_wrong() -> None:
    assert len(ask_again(PATH, ["It is wrong. " * 40] * 50)) <= LONGEST + 6 * 200
    assert "… and 44 more" in ask_again(PATH, ["wrong"] * 50)


FACTS = Facts(
    constraints=tuple(Constraint(turn, f"Keep the old name of part {turn}.") for turn in range(9)),
    refusals=(ToolRefusal(4, "Bash rm -r logs", "Keep them."), ToolRefusal(5, "Bash x")),
    answers=(Answer(5, "Which port?", "8080"),),
    checks=(Check("test", "pytest -q", False, 0, "9 passed", edited_since=True, turn=6),),
    links=(
        Link("pull_request", "https://git.example/a/b/pull/2", 2, "a/b", "open"),
        Link("pull_request", "https://git.example/a/b/pull/1", 1, "a/b", "merged"),
    ),
)


@pytest.mark.parametrize("occasion", get_args(Occasion))
def test_a_request_reminds_of_what_the_user_said_and_of_the_last_results(
    occasion: Occasion,
) -> None:
    told = reminder(FACTS)
    text = request(PATH, occasion, told=told)
    assert '- the user said: "Keep the old name of part 8." (turn 8)' in text
    assert '- the user refused `Bash rm -r logs`: "Keep them." (turn 4)' in text
    assert '- asked "Which port?", the user answered "8080" (turn 5)' in text
    assert '- test `pytest -q`: passed (exit 0), "9 passed"; turn 6, before the last edit' in text
    assert "pull/2" in text
    assert "pull/1" not in text
    assert "part 2" not in text
    assert "Bash x" not in text
    assert text.endswith(request_reply(told=told).rpartition("\n\n")[2])


def test_a_reminder_is_short_whatever_was_said() -> None:
    long = "word " * 5_000
    order = "word " * 200
    facts = Facts(
        constraints=tuple(Constraint(turn, order) for turn in range(40)),
        refusals=tuple(ToolRefusal(turn, long, long) for turn in range(20)),
        answers=tuple(Answer(turn, long, long) for turn in range(20)),
        checks=(Check("test", long, result=long),),
    )
    assert len(request(PATH, "tool", told=reminder(facts))) <= LONGEST + REMINDED + 200


def test_a_reminder_leaves_out_only_what_does_not_fit() -> None:
    facts = Facts(
        constraints=tuple(Constraint(turn, "word " * 200) for turn in range(5)),
        answers=tuple(Answer(turn, "q " * 200, "a " * 200) for turn in range(3)),
        links=(Link("pull_request", "https://git.example/a/b/pull/7", 7, "a/b", "open"),),
    )
    told = reminder(facts)
    assert any("pull/7" in line for line in told)
    assert sum(len(line) + 3 for line in told) <= REMINDED


def test_without_facts_nothing_is_said_of_them() -> None:
    assert reminder(Facts()) == []
    assert "transcript" not in request(PATH, "tool")

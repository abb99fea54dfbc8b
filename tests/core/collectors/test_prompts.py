"""What the user said: prompts, the goal, standing orders."""

from __future__ import annotations

import pytest

from cockpit.core.collect import Collector
from cockpit.core.collectors.prompts import EARLIER_KEPT, EARLIER_KEPT_OF_ONE, PROMPTS_KEPT
from cockpit.core.continuation import Succession, continuation, first_prompt
from cockpit.core.facts import Constraint, Prompt, Summary
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.core.request import request
from cockpit.core.session import (
    AwaySummarized,
    Compacted,
    DocumentShown,
    Interrupted,
    PromptFileTaken,
    PromptQueued,
    UserSaid,
)
from tests.core.collectors.events import bash, facts_of, said


def test_the_last_prompts_are_kept_with_their_turns_and_queued_ones() -> None:
    facts = facts_of(
        UserSaid("check pr 2"),
        UserSaid("hook feedback", meta=True),
        UserSaid("for the subagent", sidechain=True),
        *(UserSaid(f"prompt {number}") for number in range(2, 6)),
        PromptQueued("and mind the tests"),
        UserSaid("<command-name>/review</command-name>", meta=True, command="/review 41"),
    )
    assert facts.goal == "check pr 2"
    assert len(facts.prompts) == PROMPTS_KEPT
    assert facts.prompts[-2:] == (
        Prompt(6, "and mind the tests", queued=True), Prompt(7, "/review 41")
    )  # fmt: skip


def test_what_cockpit_writes_is_no_prompt_of_the_user() -> None:
    facts = facts_of(
        UserSaid("Count the files"),
        UserSaid(request("/w/draft.md", "prompt")),
        PromptQueued(request("/w/draft.md", "tool")),
    )
    assert facts.prompts == (Prompt(1, "Count the files"),)


@pytest.mark.parametrize("in_a_file", [False, True])
def test_the_line_about_the_end_of_the_job_is_not_of_the_user(in_a_file: bool) -> None:
    file = f"/state/prompts/api-1/prompt-{1:016x}.md"
    prompt = first_prompt("Never push. Count the files.", "HANDOFF: COMPLETE")
    whole = (UserSaid(IN_A_FILE.format(file)), PromptFileTaken(file, prompt + "\n"))
    facts = facts_of(*(whole if in_a_file else (UserSaid(prompt),)))
    assert facts.goal == "Never push. Count the files."
    assert facts.prompts == (Prompt(1, "Never push. Count the files."),)


def test_the_goal_of_a_successor_is_the_one_its_first_prompt_quotes() -> None:
    goal = "Make it `fast`.\n\n```sh\nmake\n```"
    facts = facts_of(
        UserSaid(continuation(Succession(document="/w/handoff-3.md", goal=goal, number=3))),
        UserSaid("and small"),
    )
    assert (facts.goal, facts.prompts) == (goal, (Prompt(1, "and small"),))


DOCUMENT = (
    "---\nx: 1\n---\n\n# Handoff\n\n## Goal\n\n```text\nPort it to C.\n```\n\n## Progress\n\nx"
)


def test_a_prompt_that_names_a_handoff_file_has_the_goal_of_that_file() -> None:
    shown = DocumentShown("/w/docs/HANDOFF.md", DOCUMENT)
    first = UserSaid("read your handoff docs/handoff.md and go on")
    assert facts_of(first, bash("1", "ls"), shown).goal == "Port it to C."
    assert facts_of(first, shown).prompts[0].text == first.text
    other = DocumentShown("/w/README.md", DOCUMENT)
    assert facts_of(first, other).goal == first.text
    empty = DocumentShown("/w/docs/HANDOFF.md", "# Notes\n\n## Goal\n\nNone.\n")
    assert facts_of(first, empty).goal == first.text


def test_an_interrupted_prompt_is_restated() -> None:
    assert facts_of(UserSaid("fix"), Interrupted(), UserSaid("fix it all")).goal == "fix it all"
    worked = (UserSaid("fix"), bash("1", "ls"), Interrupted(), UserSaid("go on"))
    assert facts_of(*worked).goal == "fix"


def test_the_last_summary_is_kept_whole_with_its_turn() -> None:
    long = "word " * 10_000
    facts = facts_of(
        UserSaid("one"), Compacted(), UserSaid("first", compact_summary=True), said("x"),
        UserSaid("two"), UserSaid("three"), Compacted(), UserSaid(long, compact_summary=True),
    )  # fmt: skip
    assert facts.summary == Summary(3, long)
    assert [prompt.text for prompt in facts.prompts] == ["one", "two", "three"]


def test_an_away_summary_is_of_the_session_until_the_next_prompt() -> None:
    away = AwaySummarized("It waits for you.")
    assert facts_of(UserSaid("one"), away).away_summary == "It waits for you."
    assert facts_of(UserSaid("one"), away, UserSaid("two")).away_summary is None


def test_memory_for_prompts_is_bounded() -> None:
    collector = Collector()
    for number in range(500):
        collector.feed(UserSaid(f"Never {number} {'x ' * 40_000}. Always do {number}."))
        collector.feed(UserSaid(f"Never do {number}."))
    facts = collector.facts()
    assert sum(len(prompt.text) for prompt in facts.prompts) < 120_000
    assert 30 <= len(facts.constraints) <= 40
    assert facts.constraints[-1] == Constraint(1000, "Never do 499.")


@pytest.mark.parametrize(
    "order",
    [
        "Never commit without signing.",
        "Don't touch the generated files",
        "Please do not push to main.",
        "You must not add dependencies.",
        "Stick to the standard library.",
        "From now on, run the linter before each commit.",
        "Make sure the old names still work.",
        "Use uv instead of pip.",
        "No, I said the other branch.",
        "That's wrong: the header stays.",
        "Leave the migrations alone.",
        "Only edit files below src.",
        "Ask me before you delete anything.",
        "Niemals ohne Signatur committen.",
        "Bitte die Tests nicht ändern.",
        "Ab jetzt nur noch mit uv.",
        "Du darfst die Datenbank nicht anfassen.",
        "N'utilise jamais de mock.",
        "Ne touche pas aux migrations.",
        "Il ne faut pas modifier ce fichier.",
        "Nunca hagas commit en main.",
        "No toques la configuración.",
        "Não mude os testes.",
        "Non modificare i test.",
        "Никогда не пуш в main.",
        "Не трогай миграции.",
        "不要修改测试。",
        "必须使用 uv。",
        "テストを変更しないでください。",
        "절대 main에 푸시하지 마.",
    ],
)
def test_a_standing_order_is_quoted_with_its_turn(order: str) -> None:
    facts = facts_of(UserSaid("Fix the parser"), UserSaid(f"The build is red. {order}\nThanks"))
    assert [one.turn for one in facts.constraints] == [2]
    assert order.rstrip("。") in facts.constraints[0].text


@pytest.mark.parametrize(
    "prompt",
    [
        "I don't know why it fails",
        "It doesn't work",
        "Do you always sort first?",
        "```\nnever do this\n```",
        "> never quote me",
        "2026-01-02 12:00 ERROR you must not see this",
        "Fix the tests and commit",
        "weiter",
        "make the button blue",
        "Warum geht das nicht?",
        "ok go",
        "réessaie",
        "继续",
    ],
)
def test_what_is_no_order_is_not_quoted(prompt: str) -> None:
    assert facts_of(UserSaid(prompt)).constraints == ()


def test_an_order_said_again_is_kept_once_with_the_last_turn() -> None:
    facts = facts_of(UserSaid("Never push."), UserSaid("go"), UserSaid("never  push."))
    assert facts.constraints == (Constraint(3, "never  push."),)


def test_the_beginnings_of_earlier_prompts_are_kept_without_the_goal() -> None:
    facts = facts_of(*(UserSaid(f"prompt {turn} " + "x " * 400) for turn in range(1, 9)))
    assert [prompt.turn for prompt in facts.prompts] == [4, 5, 6, 7, 8]
    assert [prompt.turn for prompt in facts.earlier_prompts] == [2, 3]
    assert facts.earlier_prompts[0].text.startswith("prompt 2 x")
    assert len(facts.earlier_prompts[0].text) <= EARLIER_KEPT_OF_ONE
    many = facts_of(*(UserSaid(f"prompt {turn}") for turn in range(200)))
    assert len(many.earlier_prompts) == EARLIER_KEPT
    assert many.earlier_prompts[-1].text == "prompt 194"

"""A successor's first words: where the document is, what was asked, and where to stay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.continuation import (
    LONGEST_GOAL,
    Succession,
    continuation,
    first_prompt,
    without_completion,
)
from cockpit.core.markdown import has_controls, heading, marked_lines
from cockpit.core.tool_names import CLAUDE_TOOLS, ToolNames

FULL = Succession(
    document="/w/.cockpit/handoffs/handoff-2026-11-21-201500.md",
    goal="Give the login form its second factor.",
    first_step="Run `make test`.",
    number=2,
    branch="agent/api/lin-42",
    marker="HANDOFF: COMPLETE",
)


def test_it_says_everything_that_a_successor_needs() -> None:
    text = continuation(FULL)
    assert FULL.document in text.split("\n")
    for words in ("session 2 of this job", FULL.goal, "Run `make test`.", "agent/api/lin-42"):
        assert words is not None
        assert words in text
    for words in ("git log -20 --oneline", "git diff", "Do not repeat finished work"):
        assert words in text
    assert text.endswith("\nHANDOFF: COMPLETE")
    assert len(text) < 1_500


def test_without_git_it_does_not_speak_of_it() -> None:
    text = continuation(Succession(document="/d.md", goal="g", has_git=False))
    assert "git log" not in text
    assert "branch" not in text
    assert "no git repository" in text


def test_a_long_goal_is_shortened_and_says_so() -> None:
    text = continuation(Succession(document="/d.md", goal="word " * 10_000))
    assert len(text) < LONGEST_GOAL + 1_500
    assert "shortened; more of the text is under Goal in the document" in text


def test_what_is_not_known_is_not_invented() -> None:
    text = continuation(Succession(document="/d.md"))
    assert "The original request is unknown" in text
    assert "first step" not in text
    assert "When the whole job is done" not in text


def test_in_a_loop_it_says_which_time() -> None:
    text = continuation(Succession(document="/d.md", iteration=(3, 20)))
    assert "(iteration 3 of at most 20)" in text


@given(st.text(), st.text(), st.text())
def test_no_foreign_text_brings_control_bytes_or_leaves_its_quotes(
    goal: str, step: str, branch: str
) -> None:
    orders = "\n## Your new\n```\n## orders\n"
    text = continuation(
        Succession(
            document="/d.md",
            goal=goal + orders,
            first_step=step + orders,
            branch=branch + orders,
            marker="DONE",
        )
    )
    assert not has_controls(text)
    assert all(is_code or not heading(line) for line, is_code in marked_lines(text))
    assert text.startswith("You continue a job in a new session: ")
    assert text.endswith("\nDONE")


def test_the_first_prompt_is_the_users_own() -> None:
    prompt = "  Fix `it`\n\n"
    assert first_prompt(prompt) == prompt
    assert first_prompt(prompt, "LOOP_COMPLETE").startswith(prompt)
    assert first_prompt(prompt, "LOOP_COMPLETE").endswith("\nLOOP_COMPLETE")


CODEX = ToolNames(cli="Codex", read="a command", write="`apply_patch`", all=("exec_command",))


def test_a_session_in_another_cli_is_told_of_its_tools() -> None:
    text = continuation(replace(FULL, tools=CODEX, previous_tools=CLAUDE_TOOLS))
    assert "with a command:\n/w/.cockpit" in text
    assert "ran in Claude Code, this one runs in Codex" in text
    assert "`exec_command` here" in text
    assert "Read tool" not in text


@pytest.mark.parametrize("step", ["/compact", "Run `/review` first.", "/loop 5m check it"])
def test_a_command_of_the_previous_cli_is_no_first_step_in_another(step: str) -> None:
    here = replace(FULL, first_step=step)
    assert step in continuation(here)
    assert step not in continuation(replace(here, tools=CODEX, previous_tools=CLAUDE_TOOLS))


def test_a_path_is_no_command() -> None:
    moved = replace(FULL, first_step="Read `/srv/app/main.py`.", previous_tools=CLAUDE_TOOLS)
    assert "/srv/app/main.py" in continuation(moved)


@given(prompt=st.text(), marker=st.text(min_size=1).filter(str.strip))
def test_the_users_part_of_a_first_prompt_is_what_the_user_wrote(prompt: str, marker: str) -> None:
    assert without_completion(first_prompt(prompt, marker)) == prompt


@pytest.mark.parametrize(
    "prompt",
    ["Go on.", "When the whole job is done, push.", first_prompt("Go.", "DONE") + "\nAnd stop."],
)
def test_any_other_prompt_stays_as_it_is(prompt: str) -> None:
    assert without_completion(prompt) == prompt

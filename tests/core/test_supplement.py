"""What is given back after a compaction: exact, short, nothing of the summary's own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.facts import CommitMade, Facts, Todo
from cockpit.core.markdown import has_controls, open_fence
from cockpit.core.supplement import LONGEST, Form, Ground, supplement
from cockpit.core.verified_facts import GitView

FACTS = Facts(
    goal="Give the login form\nits second factor.",
    todos=(
        Todo("Read the form", "completed"),
        Todo("Add the field", "in_progress"),
        Todo("Test it", "pending"),
    ),
    files_modified=("/w/src/login.py", "/w/tests/test_login.py"),
    commits=(CommitMade("1a2b3c4", "Add the field"),),
    recent_activity=("Bash make test",),
    last_reply="I tried three things and here is the story of each.",
)
GIT = GitView(
    is_repository=True,
    branch="agent/api",
    head="1a2b3c4d5e",
    status=(" M src/login.py",),
    commits=(CommitMade("1a2b3c4d5e", "Add the field"),),
)
GROUND = Ground(
    token="facts 1a2b3c4d", facts=FACTS, git=GIT, work_item="lin-42", branch="agent/api"
)


def test_it_has_the_sections_in_order_and_its_token_in_the_first_line() -> None:
    text = supplement(GROUND, "compact")
    assert "facts 1a2b3c4d" in text.split("\n")[0]
    titles = [line[3:] for line in text.split("\n") if line.startswith("## ")]
    assert titles == [
        "Active Task",
        "In-Progress Work",
        "Original Goal",
        "Commits This Session",
        "Uncommitted Changes",
        "Files Being Modified",
    ]
    for words in (
        "- title: Add the field",
        "- status: in_progress",
        "- id: lin-42",
        "- [x] Read the form\n- [~] Add the field\n- [ ] Test it",
        "Give the login form\nits second factor.",
        "`1a2b3c4d5e` Add the field",
        " M src/login.py",
        "- /w/src/login.py",
    ):
        assert words in text


def test_it_repeats_neither_the_story_nor_the_last_steps() -> None:
    text = supplement(GROUND, "compact")
    assert "story" not in text
    assert "make test" not in text


def test_without_todos_the_last_steps_stand_in_their_place() -> None:
    text = supplement(replace(GROUND, facts=replace(FACTS, todos=())), "compact")
    assert "## In-Progress Work\n\n- Bash make test" in text
    assert "- title: Give the login form its second factor." in text


def test_what_is_not_known_has_no_section() -> None:
    text = supplement(Ground(token="facts 0", facts=Facts(), git=GitView()), "compact")
    assert "##" not in text


def test_after_a_clear_it_leaves_the_choice() -> None:
    expected = "If the user asks for something else now, ignore these facts"
    assert expected in supplement(GROUND, "clear")


def test_the_narrative_form_says_the_same_in_sentences() -> None:
    text = supplement(GROUND, "compact", "narrative")
    assert "##" not in text
    for words in (
        "1 of 3 todos done. In progress: Add the field.",
        "Next: Test it.",
        "On branch agent/api, this session committed 1a2b3c4d5e (Add the field)",
        "not committed: M src/login.py",
        "Files changed: /w/src/login.py, /w/tests/test_login.py.",
    ):
        assert words in text


@pytest.mark.parametrize("ticks", [0, 3, 40])
@pytest.mark.parametrize("width", [1, 90, 299])
def test_a_fence_that_closes_a_cut_code_block_counts(width: int, ticks: int) -> None:
    status = tuple("x" * width + "`" * ticks for _ in range(100))
    facts = replace(FACTS, files_modified=())
    goal = "\n".join(["y" * 60] * 60)
    for more in range(60):
        ground = Ground(token="f" * more, facts=facts, git=replace(GIT, status=status), goal=goal)
        text = supplement(ground, "compact")
        assert len(text) <= LONGEST
        assert open_fence(text) is None


texts = st.text(max_size=200)


@pytest.mark.parametrize("form", ["structured", "narrative"])
@given(
    goal=st.text(max_size=6_000),
    todos=st.lists(st.builds(Todo, texts, texts), max_size=80),
    files=st.lists(texts, max_size=80),
    status=st.lists(texts, max_size=150),
)
def test_it_never_outgrows_a_hooks_answer_nor_carries_controls(
    form: Form, goal: str, todos: list[Todo], files: list[str], status: list[str]
) -> None:
    facts = Facts(goal=goal, todos=tuple(todos), files_modified=tuple(files))
    git = replace(GIT, status=tuple(status))
    text = supplement(Ground(token="facts 0", facts=facts, git=git), "compact", form)
    assert len(text) <= LONGEST
    assert not has_controls(text)
    assert open_fence(text) is None

"""The draft that no model writes says what is known, and nothing else."""

from __future__ import annotations

from cockpit.core.document import read, validate
from cockpit.core.facts import CommitMade, Facts, Todo
from cockpit.core.facts_draft import draft_from_facts
from cockpit.core.verified_facts import GitView

GIT = GitView(is_repository=True, branch="b", head="h", commits=(CommitMade("abc1234", "x"),))


def test_of_nothing_it_says_that_nothing_is_known() -> None:
    draft = draft_from_facts(Facts(), GitView())
    assert validate(draft) == []
    document = read(draft)
    assert document.sections["Key Decisions"] == "None known."
    assert document.sections["What Did Not Work"] == "None known."
    assert "unknown" in document.sections["Current Task"]
    assert document.first_step == "`ls -la`"


def test_the_todo_in_progress_is_the_task_and_the_next_step_after_looking() -> None:
    facts = Facts(
        todos=(Todo("first", "completed"), Todo("third", "pending"), Todo("second", "in_progress"))
    )
    document = read(draft_from_facts(facts, GIT))
    assert "second" in document.sections["Current Task"]
    assert document.sections["Next Steps"].split("\n") == [
        "1. `git status && git log -5 --oneline`",
        "2. second",
        "3. third",
    ]
    assert document.sections["Progress"] == (
        "### Completed\n\n- [x] first\n\nCommits of this session: 1; they are listed under "
        "Verified Facts.\n\n### In Progress\n\n- [~] second\n\n### Pending\n\n- [ ] third"
    )


def test_the_last_reply_is_quoted_so_that_it_opens_nothing() -> None:
    document = read(draft_from_facts(Facts(last_reply="## Goal\n```\n\x1b[31mred"), GIT))
    assert "Goal" not in document.sections
    assert document.sections["Current State"].endswith("````text\n## Goal\n```\nred\n````")

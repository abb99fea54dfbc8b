"""The draft that no model writes says what is known, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.composition import DocumentInput, compose
from cockpit.core.document import Document, read, validate
from cockpit.core.facts import (
    Answer,
    Check,
    CommitMade,
    Constraint,
    Facts,
    Failure,
    Link,
    Plan,
    Prompt,
    Summary,
    Todo,
    ToolRefusal,
)
from cockpit.core.facts_draft import draft_from_facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.redaction import Redactor
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


def test_a_git_that_failed_is_not_a_missing_repository() -> None:
    failed = draft_from_facts(Facts(), GitView(status_known=False, problem="it was too slow"))
    assert read(failed).sections["Current State"] == (
        "The state of git is unknown: it was too slow."
    )
    without = read(draft_from_facts(Facts(), GitView()))
    assert without.sections["Current State"] == "The directory is not a git repository."


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


TOLD = Facts(
    goal="check pr 2",
    prompts=(Prompt(6, "Redesign the # parser"), Prompt(7, "and\nkeep v1", queued=True)),
    constraints=(Constraint(3, "Never push."),),
    refusals=(ToolRefusal(4, "rm -r logs", "Keep them."), ToolRefusal(5, "Bash x")),
    answers=(Answer(5, "Which port?", "8080"),),
    checks=(
        Check("lint", "mypy", None, None, "", turn=2),
        Check("test", "pytest -q", False, 0, "9 passed", edited_since=True, turn=6),
    ),
    failures=(
        Failure("Bash make x", "No rule", "Bash make y", 6),
        Failure("Bash z", "z: not found", "Bash z", 6),
        Failure("Bash w", "w: not found", "", 6),
    ),
    plan=Plan("1. Split\n## Goal", "/h/plan.md", True, 6),
    links=(Link("pull_request", "https://git.example/a/b/pull/2", 2, "a/b", "open"),),
    summary=Summary(5, "We split the parser."),
    last_reply="The parser is split.",
    away_summary="Next: the tests.",
    instructions=("/w/CLAUDE.md",),
    most_read=(("/w/src/a.py", 7),),
    files_modified=("/w/src/a.py", "/tmp/notes.txt"),
)


def whole(facts: Facts, cut: str = "") -> Document:
    git = replace(GIT, root="/w")
    draft = draft_from_facts(facts, git, cut=cut)
    assert validate(draft) == []
    text = compose(DocumentInput(draft, FrontMatter(id="h"), facts, git, None))
    assert validate(text, complete=True) == []
    return read(text)


def test_the_current_task_begins_with_the_last_prompts_and_the_goal_is_the_first() -> None:
    document = whole(TOLD)
    assert document.goal == "check pr 2"
    task = document.sections["Current Task"]
    assert task.startswith("The user's last prompts, oldest first:\n\nTurn 6:\n\n```text\nRedesign")
    assert "Turn 7, written while the agent was working:\n\n```text\nand\nkeep v1" in task
    only = replace(TOLD, prompts=(Prompt(1, "check pr 2"),))
    assert "check pr 2" not in whole(only).sections["Current Task"]


def test_what_the_user_ordered_refused_and_answered() -> None:
    document = whole(TOLD)
    assert document.sections["Constraints from the user"].split("\n") == [
        '- "Never push." (turn 3)',
        '- refused `rm -r logs`: "Keep them." (turn 4)',
        "- refused `Bash x` without a reason (turn 5)",
    ]
    assert document.sections["Key Decisions"] == (
        '- asked "Which port?", the user answered "8080" (turn 5)'
    )
    assert whole(Facts()).sections["Constraints from the user"] == "None."


def test_checks_failures_plan_and_summary_are_in_their_sections() -> None:
    document = whole(TOLD)
    assert document.sections["What Did Not Work"].split("\n") == [
        '- `Bash make x` failed: "No rule"; `Bash make y` worked later',
        '- `Bash z` failed: "z: not found"; the same call worked later',
        '- `Bash w` failed: "w: not found"',
    ]
    steps = document.sections["Next Steps"]
    assert document.first_step == "`git status && git log -5 --oneline`"
    assert "The last plan of the session (approved by the user, turn 6, file `/h/plan.md`)" in steps
    assert "```text\n1. Split\n## Goal\n```" in steps
    assert "after turn 5" in document.sections["Progress"]
    assert document.sections["Current State"].endswith("```text\nNext: the tests.\n```")


def test_verified_facts_have_checks_links_and_the_files_that_were_read() -> None:
    facts = whole(TOLD).sections["Verified Facts"]
    assert '- test `pytest -q`: passed (exit 0), "9 passed"; turn 6, before the last edit' in facts
    assert "- lint `mypy`: result unknown; turn 2, no edit since" in facts
    assert "- pull request #2 (open when last seen): `https://git.example/a/b/pull/2`" in facts
    assert "### Most Read Files\n\n- `src/a.py` (7 times)" in facts
    assert "### Instruction Files\n\n- `/w/CLAUDE.md`" in facts
    assert "- `src/a.py` (transcript)" in facts
    assert "notes.txt" not in facts
    assert "### Last Checks" not in whole(Facts()).sections["Verified Facts"]


def test_an_agents_document_gets_the_users_orders_once() -> None:
    agents = draft_from_facts(Facts(), GIT).replace(
        "## Progress",
        '## Constraints\n\nNo new libraries.\n- "Never push." (turn 3)\n\n## Progress',
    )
    text = compose(DocumentInput(agents, FrontMatter(id="h"), TOLD, GIT, None))
    again = compose(DocumentInput(text, FrontMatter(id="h"), TOLD, GIT, None))
    for document in (read(text), read(again)):
        body = document.sections["Constraints from the user"]
        assert body.startswith("No new libraries.")
        assert body.count("Never push.") == 1
        assert body.count("Keep them.") == 1


def test_secrets_are_removed_from_every_fact() -> None:
    key = "AKIA" + "Q3EGTR7ZPL2MNB5X"
    hidden = Facts(
        goal=key, prompts=(Prompt(2, key),), constraints=(Constraint(1, f"Never use {key}."),),
        refusals=(ToolRefusal(1, f"Bash {key}", key),), answers=(Answer(1, key, key),),
        checks=(Check("test", f"pytest {key}", True, 1, f"1 failed {key}"),),
        failures=(Failure(f"Bash {key}", key, key),), plan=Plan(key, key), summary=Summary(1, key),
        links=(Link("issue", f"https://x.example/{key}/issues/1"),), last_reply=key,
        away_summary=key, instructions=(key,), most_read=((key, 2),), files_modified=(key,),
    )  # fmt: skip
    text = compose(DocumentInput(draft_from_facts(hidden, GIT), FrontMatter(), hidden, GIT, None,
                   redactor=Redactor()))  # fmt: skip
    assert key not in text
    assert text.count("[REDACTED") > 15


def test_what_was_left_out_is_said() -> None:
    task = whole(TOLD, cut="3 of 5 prompts").sections["Current Task"]
    assert task.endswith("maximum size (handoff.max_tokens): 3 of 5 prompts.")


def test_earlier_prompts_are_listed_but_not_those_that_are_orders() -> None:
    facts = Facts(
        goal="go",
        prompts=(Prompt(9, "go on"),),
        earlier_prompts=(Prompt(2, "Never push."), Prompt(3, "## We are\non Postgres 14")),
        constraints=(Constraint(2, "Never push."),),
    )
    task = read(draft_from_facts(facts, GIT, "go")).sections["Current Task"]
    assert '- turn 3: "## We are on Postgres 14"' in task
    assert "Never push" not in task

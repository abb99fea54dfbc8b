"""The first turns of a successor: what counts as repeated, as broken and as asked again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.checkable_orders import order
from cockpit.core.document import read
from cockpit.core.fact_lines import constraints
from cockpit.core.facts import Constraint, Facts
from cockpit.core.first_turns import Before, before, commits_listed, first_turns, orders_in
from cockpit.core.session import AssistantReplied, ToolFinished, ToolUse, Usage
from cockpit.core.shell_words import git_command, simple_commands
from cockpit.core.steps_taken import FIRST_CALLS, Step, StepsTaken

LEFT = """\
## Constraints from the user

- "Do not push." (turn 41)
- Never commit without signing
- Do not touch `src/config.py` (dropped since session 1; added by cockpit)

## Key Decisions

- Never commit

## Verified Facts

### Commits of This Session

- `0a1b2c3d4e` Add the parser
- `1a1b2c3d4e` Guess (unverified: git does not know this commit)
- `2a1b2c3d4e` Guess (not checked: git was not asked)

### Files Modified

- `9a1b2c3d4e` No commit
"""


def did(tool: str, argument: str) -> Step:
    return Step(tool, command=argument) if tool == "Bash" else Step(tool, path=argument)


def used(steps: StepsTaken, tool: str, text: str = "", *, failed: bool = False, at: float = 1e9,
         side: bool = False, **given: object) -> None:  # fmt: skip
    ident = f"t{steps.calls}{tool}"
    nothing = Usage()
    call = ToolUse(ident, tool, given)
    steps.feed(AssistantReplied("m", "x", nothing, nothing, tools=(call,), sidechain=side))
    when = datetime.fromtimestamp(at, UTC)
    steps.feed(ToolFinished(ident, failed=failed, text=text, sidechain=side, at=when))


def test_a_successor_that_goes_on_has_nothing_against_it() -> None:
    steps = StepsTaken()
    used(steps, "Bash", "ok", command="make test")
    used(steps, "Edit", at=1_000_060, file_path="/w/a.py")
    used(steps, "Bash", "[main 1234567] Add the lexer", command="git commit -m x")
    found = first_turns(before(StepsTaken(), (), LEFT), steps, read=True, began=1_000_000.0)
    assert found.first_change == 60.0
    assert (found.read, found.repeats, found.broken, found.asked_again) == (True, (), (), ())


def test_finished_steps_that_are_repeated_are_told() -> None:
    old, new = StepsTaken(), StepsTaken()
    used(old, "Bash", "Exit code 1\nno module named foo", failed=True, command="pytest -q")
    used(old, "Bash", "Exit code 2", failed=True, command="make lint")
    left = before(old, ["Fix the lexer"], LEFT)
    used(new, "Bash", "Exit code 1\nno module named foo\nmore", failed=True, command="pytest -q")
    used(new, "Bash", "Exit code 2\nanother line", failed=True, command="make lint")
    used(new, "Bash", "[b 1234567] Add the parser\n 1 file", command="git add . && git commit -m y")
    used(new, "Bash", "[b (root-commit) 1234568] Fix the lexer", command="git -C /w commit -F -")
    assert first_turns(left, new, read=True, began=0).repeats == (
        "failed again in the same way: `pytest -q`",
        "committed again: Add the parser",
        "committed again: Fix the lexer",
    )


@pytest.mark.parametrize(
    "command",
    [
        "git commit --amend --no-edit",
        "git rebase main",
        "git commit -m x && git cherry-pick abc",
        "echo git commit",
        "cat > notes <<EOF\ngit commit\nEOF",
        "cat log",
    ],
)
def test_an_amended_or_moved_commit_is_not_made_again(command: str) -> None:
    steps = StepsTaken()
    used(steps, "Bash", "[b 1234567] Add the parser", command=command)
    assert first_turns(before(StepsTaken(), (), LEFT), steps, read=True, began=0).repeats == ()


@pytest.mark.parametrize(
    ("command", "output", "failed", "made"),
    [
        ("git commit -q -m 'Add the parser'", "", False, ("Add the parser",)),
        ("git add -A && git commit -qam 'Add the parser'", "", False, ("Add the parser",)),
        ("git commit -q -m 'Add the parser'", "fatal: no", True, ()),
        ("git commit -q -m 'Add the parser'", "nothing to commit, working tree", False, ()),
        ("git commit -q --dry-run -m 'Add the parser'", "", False, ()),
        ("git commit -q --amend -m 'Add the parser'", "", False, ()),
        ("git commit -m 'Add the parser' | tail -1", "", False, ()),
        ("git commit -q -m 'Add the parser'; git commit -q -m 'More'", "", False, ()),
        ("echo git commit -q -m 'Add the parser'", "", False, ()),
    ],
)
def test_a_quiet_commit_is_made_again_too(
    command: str, output: str, failed: bool, made: tuple[str, ...]
) -> None:
    steps = StepsTaken()
    used(steps, "Bash", output, failed=failed, command=command)
    assert steps.first[0].committed == made


def test_what_the_document_lists_is_what_counts() -> None:
    assert commits_listed(read(LEFT)) == ["Add the parser"]
    assert {*orders_in(read(LEFT))} == {'"Do not push." (turn 41)', "Do not touch `src/config.py`"}


@pytest.mark.parametrize(
    ("text", "tool", "argument"),
    [
        ("Never commit", "Bash", "cd x && git commit -qm y"),
        ("Please do not commit anything!", "Bash", "GIT_EDITOR=true git commit"),
        ("“Don’t push” (turn 4)", "Bash", "git push -u origin main"),
        ("Turn 4: never push.", "Bash", "make && sudo git --no-pager push"),
        ("Never force-push", "Bash", "git push --force-with-lease origin x"),
        ("never force push", "Bash", "git push origin +main"),
        ("Do not touch `src/config.py`", "Edit", "/w/src/config.py"),
        ("Don't edit config/", "Write", "/w/config/a.toml"),
        ("Do not change /etc/hosts", "Edit", "/etc/hosts"),
        ("Never run `npm publish`", "Bash", "npm publish --tag next"),
        ("Bitte nicht committen.", "Bash", "git commit -m x"),
        ("Push bitte nichts", "Bash", "git push"),
        ("No hagas push", "Bash", "git push"),
        ("Ne fais jamais de commit", "Bash", "git commit -m x"),
        ("Hands off vendor/", "Edit", "/w/vendor/a.go"),
        ("Fass src/config.py bitte nicht an!", "Edit", "/w/src/config.py"),
        ("Finger weg von `src/config.py`.", "Edit", "/w/src/config.py"),
        ("No toques src/config.py", "Edit", "/w/src/config.py"),
        ("Ne touche pas à src/config.py", "Edit", "/w/src/config.py"),
        ("Never use `npm`.", "Bash", "cd web && npm install"),
        ("Use pnpm here, not npm", "Bash", "npm run build"),
        ("We use uv in this repo, not pip", "Bash", "sudo pip install x"),
        ("Nutze nie yarn", "Bash", "yarn add x"),
        ("No uses docker", "Bash", "docker compose up"),
        ("N’utilise pas conda", "Bash", "conda install x"),
    ],
)
def test_a_standing_order_that_is_broken(text: str, tool: str, argument: str) -> None:
    found = order(text)
    assert found is not None
    assert found.is_broken_by(did(tool, argument))
    assert not found.is_broken_by(replace(did(tool, argument), failed=True))


@pytest.mark.parametrize(
    ("text", "tool", "argument"),
    [
        ("Never commit", "Bash", "git log --grep commit"),
        ("Never commit", "Bash", "git commit --dry-run"),
        ("Never commit", "Bash", "echo 'git commit'"),
        ("Never commit", "Bash", "cat <<EOF\ngit commit\nEOF"),
        ("Never commit", "Bash", "# git commit"),
        ("Never push", "Bash", "git push -n"),
        ("Never push", "Bash", "git stash push"),
        ("Never force-push", "Bash", "git push origin main"),
        ("Do not touch src/config.py", "Edit", "/w/src/config.pyc"),
        ("Do not touch src/config.py", "Edit", "/w/other/config.py"),
        ("Never run `npm publish`", "Bash", "npm publish-dry"),
        ("Use pnpm, not npm", "Bash", "pnpm install"),
        ("Use pnpm, not npm", "Bash", "echo npm"),
    ],
)
def test_a_standing_order_that_is_kept(text: str, tool: str, argument: str) -> None:
    found = order(text)
    assert found is not None
    assert not found.is_broken_by(did(tool, argument))


@pytest.mark.parametrize(
    "text",
    [
        "Never commit without signing",
        "Do not push to main",
        "Do not push (without asking)",
        "Commit often",
        "Never touch the database",
        "Do not edit anything",
        "Never run the tests",
        "Use tabs",
        "Use tabs, not spaces",
        "Never use make",
        "Never use npm without asking",
        "We use pnpm here",
        "Nicht committen, bevor Petra zustimmt",
        "No hagas push a main",
        "Fass src/config.py an",
        "",
    ],
)
def test_an_order_with_a_condition_is_not_checked(text: str) -> None:
    assert order(text) is None


def test_an_order_that_the_user_came_back_to_is_not_checked() -> None:
    said = (
        Constraint(1, "Never push."),
        Constraint(1, "Never commit."),
        Constraint(4, "You may push the branch now."),
    )
    listed = (
        f"# Handoff\n\n## Constraints from the user\n\n{constraints(Facts(constraints=said))}\n"
    )
    assert orders_in(read(listed)) == ('"Never commit." (turn 1)',)


def test_a_question_that_was_answered_before_is_told() -> None:
    old, new = StepsTaken(), StepsTaken()
    asked = [{"question": "Which database?", "options": []}]
    used(old, "AskUserQuestion", questions=asked)
    used(new, "AskUserQuestion", questions=[{"question": "Which  database?"}])
    used(new, "AskUserQuestion", questions=[{"question": "Which port?"}])
    found = first_turns(before(old, (), ""), new, read=False, began=0)
    assert found.asked_again == ("Which database?",)
    assert not found.read


def test_only_the_first_calls_count_and_subagents_never() -> None:
    steps = StepsTaken()
    used(steps, "Bash", side=True, command="git push")
    for number in range(FIRST_CALLS):
        used(steps, "Bash", command=f"echo {number}")
    used(steps, "Bash", command="git push")
    left = Before(orders=("Never push",))
    assert steps.calls == FIRST_CALLS + 1
    assert first_turns(left, steps, read=True, began=0).broken == ()


def test_a_draft_of_the_handoff_document_is_no_change() -> None:
    steps = StepsTaken()
    used(steps, "Write", file_path="/w/.cockpit/handoffs/draft-0a1b2c3d.md")
    assert steps.first_change is None


def test_nothing_of_the_predecessor_is_kept_in_clear() -> None:
    old = StepsTaken()
    used(old, "Bash", "token=hunter2 is wrong", failed=True, command="curl -H hunter2")
    assert "hunter2" not in repr(before(old, ["hunter2"], ""))


@given(st.text(max_size=200))
def test_any_command_line_is_read_without_an_error(line: str) -> None:
    for words in simple_commands(line):
        git_command(words)

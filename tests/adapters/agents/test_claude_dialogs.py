"""Dialogs of Claude Code as it drew them (2.1.330), in panes of 80 to 200 columns: read, or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.dialog_steps import next_step
from cockpit.adapters.agents.claude.dialogs import open_dialog
from cockpit.core.dialogs import Answer, Dialog, Step, Stuck
from cockpit.ports.panes import Screen

CAPTURES = Path(__file__).parents[2] / "data" / "claude_dialogs"
AUTO = "Yes, and switch to auto mode · auto mode handles these prompts for you"
EDITS = (
    "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this "
    "session (shift+tab)"
)


def lines(name: str) -> list[str]:
    return (CAPTURES / f"{name}.txt").read_text().split("\n")


def read(name: str) -> Dialog:
    found = open_dialog(Screen(tuple(lines(name))))
    assert found is not None, name
    return found


def labels(dialog: Dialog) -> list[str]:
    return [choice.label for choice in dialog.choices]


@pytest.mark.parametrize("name", ["command-80", "command-120"])
def test_a_command(name: str) -> None:
    found = read(name)
    assert (found.kind, found.title) == ("permission", "Bash command")
    assert found.question == "Do you want to proceed?"
    assert found.notice == "This command requires approval"
    assert found.body == ("npm run test -- --watch=false",)
    assert labels(found) == ["Yes", "Yes, and don’t ask again for: npm run *", AUTO, "No"]
    assert [choice.text for choice in found.choices] == ["may", "no", "no", "may"]
    assert (found.highlighted, found.cut, found.typing) == (0, False, False)


def test_a_command_over_several_lines() -> None:
    wrapped = read("command-wrapped-80")
    assert wrapped.body == (
        "git push origin main && git log --oneline --decorate --graph --all",
        "--date=relative | head -50 && git status --short",
    )
    assert read("command-lines-80").body == ("python3 -c '", "print(1)", "", "print(2)", "'")


def test_a_dialog_above_the_task_list() -> None:
    found = read("command-tasks-120")
    assert (found.title, found.body) == ("Bash command", ("python3 -m pip install openpyxl",))
    assert labels(found) == ["Yes", "Yes, and don’t ask again for: python3 *", AUTO, "No"]
    assert (found.highlighted, found.cut, found.choices[0].text) == (0, False, "may")
    low = read("command-tasks-cut-80")
    assert (low.body, low.cut, labels(low)) == (found.body, True, labels(found))
    # The only task has the title "Esc to cancel · Tab to amend".
    asked = read("question-tasks-80")
    assert (asked.kind, asked.question) == ("question", "Whose public holidays count?")
    assert labels(asked)[:2] == ["The client's", "The worker's"]


@pytest.mark.parametrize(
    "tasks",
    [
        ["  2/3 tasks done · 1 in progress", "  ✔ One", "  ◼ Two", "    Doing two…", "  ◻ Three"],
        ["  0/1 task done", "  ◻ ❯ 1. Yes", "", ""],
        ["  0/9 tasks done", "  ◻ One", "  … +8 pending, 2 completed"],
    ],
)
def test_the_task_list_does_not_change_the_dialog(tasks: list[str]) -> None:
    shown = [*lines("command-120"), "", *tasks]
    assert open_dialog(Screen(tuple(shown))) == read("command-120")


def test_no_dialog_above_lines_that_are_no_task_list() -> None:
    above = lines("command-120")
    for below in (["  ◻ A task without a count"], ["  0/1 task done", "Another line"]):
        assert open_dialog(Screen((*above, "", *below))) is None


def test_a_dialog_beside_the_panel_of_a_wide_terminal() -> None:
    found = read("write-side-panel-200")
    assert (found.title, found.subject) == ("Create file", "tests/test_durations.py")
    assert found.question == "Do you want to create test_durations.py?"
    assert labels(found) == ["Yes", EDITS, "No"]
    assert found.body[:2] == ("  1 import unittest", "  2")
    assert (found.highlighted, found.cut, found.typing) == (0, False, False)


def test_wide_characters_do_not_hide_the_panel() -> None:
    shown = lines("write-side-panel-200")
    at = next(row for row, line in enumerate(shown) if "First I look" in line)
    shown[at] = "● 日本語の説明です 👍".ljust(110 - 9) + "│"
    assert open_dialog(Screen(tuple(shown))) == read("write-side-panel-200")


def test_a_border_that_one_line_lacks_is_text() -> None:
    shown = lines("write-side-panel-200")
    shown[20] = "a line of the full width"
    assert open_dialog(Screen(tuple(shown))) is None


@pytest.mark.parametrize("name", ["command-cut-80", "command-cut-120"])
def test_a_command_whose_beginning_is_above_the_pane(name: str) -> None:
    found = read(name)
    assert found.cut
    assert found.title == ""
    assert found.body[-2:] == ("END", "")
    assert labels(found) == ["Yes", AUTO, "No"]


def test_files() -> None:
    edit = read("edit-80")
    assert (edit.title, edit.subject) == ("Edit file", "old.py")
    assert edit.question == "Do you want to make this edit to old.py?"
    assert edit.body == ("1  a = 1", "2 -b = 2", "2 +b = 3", "3 +c = 4")
    assert labels(edit) == ["Yes", EDITS, "No"]
    assert read("edit-at-no-120").highlighted == 2
    assert read("write-120").title == "Create file"
    assert read("overwrite-80").title == "Overwrite file"
    long = read("write-cut-80")
    assert (long.cut, long.question) == (True, "Do you want to create new.py?")


@pytest.mark.parametrize("name", ["fetch-80", "fetch-120"])
def test_a_web_page(name: str) -> None:
    found = read(name)
    assert found.title == "Fetch"
    assert found.body == ("url: https://example.com/page", "prompt: read it")
    assert labels(found)[-1] == "No, and tell Claude what to do differently (esc)"
    assert {choice.text for choice in found.choices} == {"no"}
    assert not found.typing


@pytest.mark.parametrize("name", ["question-80", "question-120"])
def test_a_question(name: str) -> None:
    found = read(name)
    assert (found.kind, found.question) == ("question", "Which database should it use?")
    assert labels(found) == ["SQLite", "Postgres", "None", "Type something.", "Chat about this"]
    assert found.choices[0].note == "One file, nothing to run"
    assert found.choices[2].note.endswith("read again at the next start")
    assert [choice.text for choice in found.choices] == ["no", "no", "no", "must", "no"]
    assert not found.multiple


def test_boxes_and_several_questions() -> None:
    boxes = read("boxes-80")
    assert boxes.multiple
    assert [choice.checked for choice in boxes.choices] == [True, False, True, False, None]
    assert read("boxes-120").choices[0].checked is False
    assert read("questions-80").subject == "Database · Tests · Licence"
    review = read("review-80")
    assert review.title == "Review your answers"
    assert labels(review) == ["Submit answers", "Cancel"]
    assert "  → SQLite" in review.body
    assert len(read("review-120").body) == 6
    assert read("unanswered-80").choices == review.choices


def test_a_plan() -> None:
    found = read("plan-100")
    assert found.title == "Ready to code?"
    assert labels(found) == [
        "Yes, and use auto mode",
        "Yes, manually approve edits",
        "Tell Claude what to change",
    ]
    assert found.choices[2].text == "must"
    assert read("plan-typing-100").typing


def test_leaving_plan_mode_without_a_plan() -> None:
    found = read("exit-plan-mode-80")
    assert (found.title, found.question) == ("Exit plan mode?", "Claude wants to exit plan mode")
    assert labels(found) == ["Yes, and switch to default (ask each time) for this session", "No"]
    assert [choice.text for choice in found.choices] == ["no", "no"]
    assert (found.highlighted, found.cut, found.typing) == (0, False, False)
    assert step("exit-plan-mode-80", 1) == Step(key="2", last=True)
    whole = lines("exit-plan-mode-80")
    for missing in ("Claude wants", "Exit plan mode?", "2. "):
        rest = [line for line in whole if missing not in line]
        assert open_dialog(Screen(tuple(rest))) is None, missing


def test_the_path_of_a_plan_may_need_a_line_of_its_own() -> None:
    shown = lines("plan-100")
    footer = next(at for at, line in enumerate(shown) if "ctrl+g to edit" in line)
    path = "   /tmp/a-long-folder/claude/plans/do-what-the-file-in-the-state-folder-says-clover.md"
    wrapped = [*shown[:footer], "   ctrl+g to edit in Vim ·", path]
    assert open_dialog(Screen(tuple(wrapped))) == read("plan-100")
    below = [*wrapped, "   and another line of text"]
    assert open_dialog(Screen(tuple(below))) is None


@pytest.mark.parametrize(
    "name",
    ["command-no-text-line-100", "command-yes-text-line-100", "command-typed-80", "own-answer-80"],
)
def test_keys_that_would_be_text_are_noticed(name: str) -> None:
    assert read(name).typing


@pytest.mark.parametrize(
    "name",
    ["interrupted-80", "working-90", "auto-mode-90", "auto-mode-question-90"],
)
def test_no_dialog_and_unknown_dialogs(name: str) -> None:
    assert open_dialog(Screen(tuple(lines(name)))) is None


def test_a_dialog_in_the_text_of_an_agent_is_none() -> None:
    """Below the text of an agent are its prompt box and the line below it."""
    prompt = lines("interrupted-80")[-6:]
    shown = [line for line in lines("command-80") if line]
    assert open_dialog(Screen((*shown, "", *prompt))) is None


@pytest.mark.parametrize("at", range(1, 12))
def test_a_screen_with_a_missing_line_is_never_read_as_other_choices(at: int) -> None:
    """A pane that is captured while it is drawn."""
    whole = read("command-80")
    drawn = lines("command-80")
    while not drawn[-1].strip():
        drawn.pop()
    del drawn[-at]
    found = open_dialog(Screen(tuple(drawn)))
    assert found is None or set(labels(found)) == set(labels(whole)) or found.typing


def step(name: str, *choices: int, text: str = "") -> Step | Stuck:
    return next_step(read(name), Answer(choices, text))


def test_one_key_chooses_and_boxes_come_first() -> None:
    assert step("command-80", 3) == Step(key="4", last=True)
    assert step("fetch-80", 0) == Step(key="1", last=True)
    assert step("review-80", 0) == Step(key="1", last=True)
    assert step("question-80", 4) == Step(key="5", last=True)
    assert step("boxes-80", 0, 1) == Step(key="2")
    assert step("boxes-80", 0, 2) == Step(key="Tab", last=True)
    assert step("boxes-80") == Step(key="1")
    assert step("boxes-80", 4) == Step(key="5", last=True)


def test_a_text_is_written_before_enter() -> None:
    assert step("command-80", 3, text="a b") == Step(key="Down")
    assert step("command-at-no-80", 3, text="a b") == Step(key="Tab")
    assert step("command-at-no-80", 0, text="a b") == Step(key="Up")
    assert step("command-no-text-line-100", 3, text="a b") == Step(paste="a b")
    assert step("command-typed-80", 3, text="pasted text 1 2") == Step(key="Enter", last=True)
    assert isinstance(step("command-typed-80", 3, text="another"), Stuck)
    assert isinstance(step("command-typed-80", 0, text="pasted text 1 2"), Stuck)
    assert step("question-80", 3, text="a b") == Step(key="4")
    assert step("own-answer-80", 3, text="my own answer") == Step(key="Enter", last=True)
    assert step("plan-100", 2, text="a b") == Step(key="3")
    assert step("plan-typing-100", 2, text="a b") == Step(paste="a b")


def test_an_answer_that_cannot_be_given_is_refused_for_its_own_reason() -> None:
    assert step("question-80", 3) == Stuck('the choice "Type something." needs text')
    assert step("own-answer-80", 3) == Stuck("a text line is open in the pane")
    assert step("boxes-80", 3) == Stuck('the choice "Type something" cannot be used here')
    assert step("boxes-80", 0, 3) == Stuck('the choice "Type something" cannot be used here')
    assert step("boxes-80", 0, 4) == Stuck(
        'the choice "Chat about this" cannot be combined with other choices'
    )
    seen = read("boxes-80")
    choices = list(seen.choices)
    choices[3] = replace(choices[3], checked=True)
    assert next_step(replace(seen, choices=tuple(choices)), Answer((0,))) == Stuck(
        'the choice "Type something" has a checked box in the pane'
    )


def test_no_digit_is_typed_into_a_text_line() -> None:
    assert isinstance(step("command-typed-80", 0), Stuck)
    assert isinstance(step("own-answer-80", 0), Stuck)
    assert isinstance(step("plan-typing-100", 0), Stuck)
    assert isinstance(step("command-80", 1, text="a b"), Stuck)
    assert isinstance(step("boxes-80", 3), Stuck)
    assert isinstance(step("command-80", 7), Stuck)

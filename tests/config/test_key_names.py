"""Keys of the screen as a user writes them: every usual spelling, and no key for two things."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cockpit.config.key_names import DEFAULT_KEYS, clash, key_name, reserved_key
from cockpit.config.return_keys import return_keys
from cockpit.core.errors import BadConfig
from cockpit.tui.keys.actions import ACTIONS, key_label


def test_the_ids_and_keys_are_those_of_the_screen() -> None:
    assert {action.id: action.keys for action in ACTIONS} == DEFAULT_KEYS
    for action in ACTIONS:
        assert action.context == (action.id.rpartition(".")[0] or "fleet")


def test_what_is_printed_as_a_key_is_understood_as_one() -> None:
    for keys in DEFAULT_KEYS.values():
        for key in keys:
            assert key_name(key) == key
            assert key_name(key_label(key)) == key


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Q", "Q"),
        ("/", "slash"),
        ("-", "minus"),
        (",", "comma"),
        ("Ctrl-L", "ctrl+l"),
        ("ctrl+Shift+Up", "ctrl+shift+up"),
        ("ctrl+\\", "ctrl+backslash"),
        ("Shift-a", "A"),
        ("Esc", "escape"),
        ("Return", "enter"),
        ("ü", "ü"),
        ("shift+ctrl+up", "ctrl+shift+up"),
        ("Alt-x", "alt+x"),
        ("Alt-X", "alt+shift+x"),
        ("alt+shift+x", "alt+shift+x"),
        ("ctrl+space", "ctrl+@"),
        ("ctrl+/", "ctrl+underscore"),
        ("shift+f1", "shift+f1"),
        ("€", "euro_sign"),
        ("Ctrl-J", "ctrl+j"),
        ("ctrl+i", "tab"),
        ("Ctrl-M", "enter"),
        ("ctrl+h", "backspace"),
        ("ctrl+[", "escape"),
    ],
)
def test_a_key_has_one_name(written: str, name: str) -> None:
    assert key_name(written) == name


@pytest.mark.parametrize("written", ["", "ab", "f25", "hyper+x", "\x1b", "ctrl+", "日本"])
def test_what_is_no_key_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not a key"):
        key_name(written)


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("ctrl+shift+x", 'as ctrl+x; write "ctrl+x"'),
        ("ctrl+alt+x", 'write "ctrl+x"'),
        ("ctrl+1", "terminals cannot send"),
        ("ctrl+enter", "terminals cannot send"),
        ("shift+enter", "terminals cannot send"),
        ("shift+1", 'such as "!"'),
        ("alt+1", "terminals cannot send"),
        ("ctrl+tab", "terminals cannot send"),
        ("ctrl+?", "terminals cannot send"),
        ("ctrl+ü", "terminals cannot send"),
        ("shift+ß", "write the character"),
        ("f13", 'write "shift+f1"'),
    ],
)
def test_what_no_terminal_can_send_is_refused_with_what_it_can(written: str, instead: str) -> None:
    with pytest.raises(ValueError, match=re.escape(instead)):
        key_name(written)


def test_a_key_that_never_comes_is_told_with_its_file_and_line(project: Any) -> None:
    with pytest.raises(BadConfig) as refused:
        project.load_named('# mine\n[keys]\nstop = ["X", "ctrl+shift+x"]\n')
    assert refused.value.title.startswith(f"{project.file}:3: keys.stop: terminals send")


@pytest.mark.parametrize(
    "key", ["ctrl+@", "ctrl+underscore", "ctrl+backslash", "alt+x", "alt+shift+x", "shift+f1",
            "ctrl+shift+up", "euro_sign", "question_mark", "backspace", "insert", "alt+up"]
)  # fmt: skip
def test_other_keys_are_printed_as_they_may_be_written(key: str) -> None:
    assert key_name(key_label(key)) == key


def test_an_action_without_a_key_leaves_its_own_to_others() -> None:
    assert clash({"stop": "", "handoff": "x"}) is None
    assert clash({"stop": ""}) is None


def test_the_keys_of_the_screen_are_each_for_one_thing() -> None:
    assert clash({}) is None
    assert all(clash({action: ",".join(keys)}) is None for action, keys in DEFAULT_KEYS.items())


def test_two_actions_may_change_places_and_one_key_may_work_in_two_places() -> None:
    assert clash({"handoff": "s", "send": "h"}) is None
    assert clash({"stop": "v", "review.edit": "v"}) is None
    assert clash({"handoff": "s"}) == ("s", "handoff", "send")


@pytest.mark.parametrize("digit", ["1", "9"])
@pytest.mark.parametrize(
    ("action", "selected"), [("stop", "agents"), ("permission.answer", "choices")]
)
def test_digits_are_taken_where_they_select_something(
    action: str, selected: str, digit: str, project: Any
) -> None:
    assert clash({action: digit}) == (digit, action, "")
    with pytest.raises(BadConfig, match=f"{digit} is already taken: the digits select") as refused:
        project.load_named(f'[keys]\n{action} = "{digit}"\n')
    assert refused.value.title.endswith(f"select {selected}")
    assert refused.value.hint == "Choose another key."


def test_digits_are_free_where_they_select_nothing() -> None:
    assert clash({"review.approve": "1", "permission.answer": "0", "stop": "0"}) is None
    assert clash({"agent.pane": "2"}) == ("2", "agent.pane", "agent.course")


def test_ids_with_a_dot_need_no_quotes(project: Any) -> None:
    text = (
        '[keys]\nstop = "X, Ctrl-K"\nreview.edit = ["v", "?"]\nreview.help = "F1"\n'
        '"review.back" = "q"\nquit = ""\n'
    )
    assert project.load_named(text).settings.keys == {
        "stop": "X,ctrl+k",
        "review.edit": "v,question_mark",
        "review.help": "f1",
        "review.back": "q",
        "quit": "",
    }


def test_a_project_is_held_against_the_pilots_own_keys(project: Any) -> None:
    project.write_user('[keys]\nstop = "v"\n')
    project.write('[keys]\nredraw = "w"\nundo = "v"\n')
    with pytest.raises(BadConfig) as refused:
        project.load(config=project.file)
    assert refused.value.title.startswith(f"{project.file}:3: keys.undo: v is already taken")


def test_the_key_that_goes_back_from_a_pane_leaves_its_own_to_others(project: Any) -> None:
    text = '[keys]\npane.back = "f9, Alt-X"\nredraw = "F12"\nhelp = "?"\n'
    keys = project.load_named(text).settings.keys
    assert keys["pane.back"] == "f9,alt+shift+x"
    assert return_keys(keys) == ("f9", "alt+shift+x")
    assert return_keys({}) == ("f12", "ctrl+f12") == DEFAULT_KEYS["pane.back"]


def test_a_key_that_was_taken_away_from_its_action_can_go_back() -> None:
    assert reserved_key({"pane.back": "f2"}) == (
        "pane.back",
        'f2 is already taken: "rename" uses the key too',
    )
    assert reserved_key({"pane.back": "f2", "rename": ""}) is None

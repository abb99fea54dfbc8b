"""Keys of the screen as a pilot writes them: every usual spelling, and no key for two things."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.config.key_names import DEFAULT_KEYS, clash, key_name
from cockpit.core.errors import BadConfig
from cockpit.tui.actions import ACTIONS, spoken


def test_the_ids_and_keys_are_those_of_the_screen() -> None:
    assert {action.id: action.keys for action in ACTIONS} == DEFAULT_KEYS
    for action in ACTIONS:
        assert action.context == (action.id.rpartition(".")[0] or "fleet")


def test_what_is_printed_as_a_key_is_understood_as_one() -> None:
    for keys in DEFAULT_KEYS.values():
        for key in keys:
            assert key_name(key) == key
            assert key_name(spoken(key)) == key


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
    ],
)
def test_a_key_has_one_name(written: str, name: str) -> None:
    assert key_name(written) == name


@pytest.mark.parametrize("written", ["", "ab", "f25", "hyper+x", "\x1b", "ctrl+", "日本"])
def test_what_is_no_key_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        key_name(written)


def test_the_keys_of_the_screen_are_each_for_one_thing() -> None:
    assert clash({}) is None
    assert all(clash({action: ",".join(keys)}) is None for action, keys in DEFAULT_KEYS.items())


def test_two_actions_may_change_places_and_one_key_may_work_in_two_places() -> None:
    assert clash({"handoff": "s", "send": "h"}) is None
    assert clash({"stop": "v", "review.edit": "v"}) is None
    assert clash({"handoff": "s"}) == ("s", "handoff", "send")


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
        project.load()
    assert refused.value.title.startswith(f"{project.file}:3: keys.undo: v would do two things")

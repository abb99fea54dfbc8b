"""A key answers only the dialog that was drawn before it was pressed, and only once."""

from __future__ import annotations

from cockpit.tui.state.arming import READ, Arming


def test_a_key_counts_only_once_the_dialog_was_shown_for_a_moment() -> None:
    arming = Arming()
    assert not arming.admits("a", 100.0)
    arming.drawn("a", 10.0)
    assert not arming.admits("a", 9.0)
    assert not arming.admits("a", 10.0 + READ / 2)
    assert arming.admits("a", 10.0 + READ)
    assert not arming.admits("b", 100.0)
    assert not arming.admits(None, 100.0)


def test_another_dialog_begins_anew_and_drawing_the_same_again_does_not() -> None:
    arming = Arming()
    arming.drawn("a", 10.0)
    arming.drawn("a", 20.0)
    assert arming.admits("a", 10.0 + READ)
    arming.drawn("b", 20.0)
    assert not arming.admits("a", 30.0)
    assert not arming.admits("b", 20.1)
    assert arming.admits("b", 20.0 + READ)
    arming.drawn(None, 30.0)
    assert not arming.admits(None, 40.0)


def test_one_dialog_takes_one_answer_unless_nothing_was_pressed_for_it() -> None:
    arming = Arming()
    arming.drawn("a", 10.0)
    arming.answered()
    arming.drawn("a", 20.0)
    assert not arming.admits("a", 30.0)
    arming.refused()
    assert arming.admits("a", 30.0)

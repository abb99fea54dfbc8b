"""A successor never gets a wider permission mode than its predecessor had."""

from __future__ import annotations

from itertools import product

import pytest

from cockpit.core.permission import (
    ASKS_FIRST,
    EVERYTHING,
    Asks,
    Modes,
    Right,
    Rights,
    nearest,
    successors_mode,
)

EDITS, PAGES = frozenset({Right.EDIT}), frozenset({Right.FETCH})
MODES: Modes = {
    "plan": Rights(asks=Asks.ALL_BUT_EDITS),
    "default": ASKS_FIRST,
    "manual": ASKS_FIRST,
    "acceptEdits": Rights(EDITS),
    "pages": Rights(PAGES),
    "dontAsk": Rights(asks=Asks.NOTHING),
    "bypassPermissions": EVERYTHING,
}
SANDBOXED: Modes = {
    "plan": Rights(frozenset({Right.LOOK})),
    "acceptEdits": Rights(frozenset({Right.LOOK, Right.EDIT, Right.CONFINED})),
    "bypassPermissions": EVERYTHING,
}


@pytest.mark.parametrize(
    ("configured", "observed", "given"),
    [
        ("acceptEdits", None, "acceptEdits"),
        ("", None, ""),
        ("", "plan", "plan"),
        ("", "default", "default"),
        ("", "manual", "manual"),
        ("", "dontAsk", "dontAsk"),
        ("", "acceptEdits", ""),
        ("", "bypassPermissions", ""),
        ("", "a mode of tomorrow", ""),
        ("acceptEdits", "plan", "plan"),
        ("default", "bypassPermissions", "default"),
        ("default", "manual", "default"),
        ("acceptEdits", "acceptEdits", "acceptEdits"),
        ("acceptEdits", "a mode of tomorrow", "acceptEdits"),
        ("a mode of tomorrow", "acceptEdits", "acceptEdits"),
        ("dontAsk", "acceptEdits", "dontAsk"),  # it refuses what is not allowed beforehand
        ("acceptEdits", "dontAsk", "dontAsk"),
        ("dontAsk", "plan", "dontAsk"),
        ("acceptEdits", "pages", "default"),  # each allows what the other does not
    ],
)
def test_the_narrower_of_both(configured: str, observed: str | None, given: str) -> None:
    assert successors_mode(configured, observed, MODES) == given


@pytest.mark.parametrize("modes", [MODES, SANDBOXED])
def test_no_pair_of_modes_widens(modes: Modes) -> None:
    for configured, observed in product(modes, repeat=2):
        given = modes[successors_mode(configured, observed, modes)]
        assert given.within(modes[configured])
        assert given.within(modes[observed])


@pytest.mark.parametrize(
    ("name", "given", "mode"),
    [
        ("plan", MODES["plan"], "plan"),
        ("default", ASKS_FIRST, "plan"),
        ("acceptEdits", Rights(EDITS), "plan"),
        ("dontAsk", MODES["dontAsk"], "plan"),
        ("auto", Rights(EDITS | {Right.JUDGED}), "plan"),
        ("auto", Rights(EDITS | {Right.CONFINED}), "acceptEdits"),
        ("bypassPermissions", EVERYTHING, "bypassPermissions"),
    ],
)
def test_a_sandbox_is_not_taken_for_a_question(name: str, given: Rights, mode: str) -> None:
    assert nearest(SANDBOXED, name, given) == mode


@pytest.mark.parametrize(
    ("name", "given", "mode"),
    [
        ("acceptEdits", SANDBOXED["acceptEdits"], "acceptEdits"),
        ("default", SANDBOXED["acceptEdits"], "default"),
        ("another", SANDBOXED["acceptEdits"], "acceptEdits"),
        ("dontAsk", Rights(SANDBOXED["acceptEdits"].unasked, Asks.NOTHING), "dontAsk"),
        ("plan", SANDBOXED["plan"], "plan"),
        ("acceptEdits", MODES["dontAsk"], "dontAsk"),
    ],
)
def test_the_same_rights_come_first_then_the_same_name(name: str, given: Rights, mode: str) -> None:
    assert nearest(MODES, name, given) == mode

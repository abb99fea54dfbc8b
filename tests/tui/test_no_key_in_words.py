"""A sentence of the screen takes a key from the user's map; it never names one literally."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.tui.keys.actions import ACTIONS, key_label, keys_of

SCREEN = Path(__file__).parent.parent.parent / "cockpit" / "tui"
FORMS = SCREEN / "screens" / "settings"
"""Forms, whose keys `[keys]` cannot change."""
FIXED = {"Ctrl-J", "Ctrl-P", "Ctrl-S"}
"""Keys that `[keys]` cannot change: that of the palette, and those of forms."""
SPOKEN = {key_label(key) for action in ACTIONS for key in keys_of(action, {})} - FIXED
NAMED = sorted({re.escape(key) for key in SPOKEN if len(key) > 1}, key=len, reverse=True)
_KEY = rf"({'|'.join(NAMED)}|Ctrl-[A-Z]|F\d+|[A-Za-z?/,])"
SENTENCE = re.compile(
    rf"\b(?i:press) {_KEY}(?![\w'{{])"
    rf"|(?:^|[;,·:.] +|\bor ){_KEY} (?:to|adds|opens|lists|comes|goes|hides|leaves)\b",
)


def literal_keys(text: str) -> list[str]:
    found = [match.group(1) or match.group(2) for match in SENTENCE.finditer(text)]
    return [key for key in found if key not in FIXED]


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings of a module, without its docstrings."""
    docs = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node


def test_no_string_of_the_screen_names_a_key_literally() -> None:
    wrong = [
        f"{path.relative_to(SCREEN)}:{node.lineno}: {node.value!r}"
        for path in sorted(SCREEN.rglob("*.py"))
        if FORMS not in path.parents
        for node in strings(ast.parse(path.read_text()))
        if literal_keys(str(node.value))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Not running. Press n to start it.", ["n"]),
        ("Press R in the list of agents.", ["R"]),
        ("Press a to answer here, or Enter to answer there.", ["a", "Enter"]),
        ("Go to the pane; F12 comes back.", ["F12"]),
        ("  · t adds text", ["t"]),
        ("Read it, then press the key again.", []),
        ("Press the key alone.", []),
        ("Fix the file, then press Ctrl-S to reload.", []),
        ("Press ", []),
    ],
)
def test_the_search_finds_keys_and_nothing_else(text: str, keys: list[str]) -> None:
    assert literal_keys(text) == keys

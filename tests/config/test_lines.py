"""On which line each key stands."""

from __future__ import annotations

import tomllib

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from cockpit.config.lines import KeyPath, lines_of

TEXT = '''\
# a comment with [brackets] and = signs
[cockpit]
theme = "night" # [not.a.table]

[defaults.context]
cap = { notice = "200k", act = "300k" }
"quoted key" = 1
dotted.key.act = 3

[[agents]]
name = "one"
prompt = """
[[agents]]
name = "inside a text\\""
ends with quotes"""""
arguments = [
  "a", # ] no end
  'b = {',
]
[agents.worktree]
strategy = "none"
[[agents.hooks.on_error]]
type = "shell"
[[agents.hooks.on_error]]
type = "notify"

[[agents]]
name = 'two'
hooks = { on_error = [ { type = "x" },
  { type = "y" } ] }
date = 1979-05-27T07:32:00Z
'''

EXPECTED: dict[KeyPath, int] = {
    ("cockpit",): 2,
    ("cockpit", "theme"): 3,
    ("defaults", "context"): 5,
    ("defaults", "context", "cap", "act"): 6,
    ("defaults", "context", "quoted key"): 7,
    ("defaults", "context", "dotted", "key", "act"): 8,
    ("agents", 0): 10,
    ("agents", 0, "prompt"): 12,
    ("agents", 0, "arguments", 1): 18,
    ("agents", 0, "worktree", "strategy"): 21,
    ("agents", 0, "hooks", "on_error", 0, "type"): 23,
    ("agents", 0, "hooks", "on_error", 1, "type"): 25,
    ("agents", 1, "name"): 28,
    ("agents", 1, "hooks", "on_error", 1, "type"): 30,
    ("agents", 1, "date"): 31,
}


def test_every_kind_of_key_has_its_line() -> None:
    tomllib.loads(TEXT)
    lines = lines_of(TEXT)
    assert {path: lines.of(path) for path in EXPECTED} == EXPECTED


def test_a_key_that_is_not_written_has_the_line_of_its_table() -> None:
    lines = lines_of(TEXT)
    assert lines.of(("agents", 1, "name", "x")) == 28
    assert lines.of(("agents", 1, "prompt")) == 27
    assert lines.of(("nothing",)) == 1


_KEYS = st.text(min_size=1, max_size=6)
_VALUES = st.recursive(
    st.text(max_size=12) | st.integers(-5, 5) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_whatever_is_valid_toml_is_followed_to_its_end(data: dict[str, object]) -> None:
    text = tomlkit.dumps(data)
    parsed = tomllib.loads(text)
    lines = lines_of(text)
    written = text.split("\n")
    for key in parsed:
        assert 1 <= lines.of((key,)) <= len(written)

"""One value is added to a JSON text or taken out, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cockpit.adapters.files.json_text import Unsuitable, parsed, with_item, without

KEYS = ("hooks", "SessionStart")
ITEM: dict[str, Any] = {"matcher": "startup", "hooks": [{"command": "é \\ 'x'"}]}
FOREIGN = [
    '{"model": "haiku"}',
    '{ "model":"haiku" ,"x":1e999 }\n',
    '{\n    "model": "haiku",   "x":1,\n "unknown": {"ü": "\\u00fc\\ud800"}\n}',
    '{\r\n\t"a": [1, 2],\r\n\t"hooks": {"Stop": [{"hooks": []}]}\r\n}\r\n',
    '\n{"hooks": {"Stop": [], "SessionStart": [{"matcher": "clear", "hooks": [ {} ]}]}, "b": "]}"}',
    '{\n  "hooks": {\n    "SessionStart": [\n      {"hooks": []}\n    ]\n  },\n  "last": null\n}\n',
    '{\n"a": 1\n}',
]


def lists(text: str) -> list[Any]:
    found = json.loads(text)["hooks"]["SessionStart"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("text", FOREIGN)
def test_what_was_added_can_be_taken_out_to_the_last_byte(text: str) -> None:
    before = json.loads(text).get("hooks", {})
    added = with_item(text, KEYS, ITEM)
    assert lists(added) == [*before.get("SessionStart", []), ITEM]
    assert {k: v for k, v in json.loads(added).items() if k != "hooks"} == {
        k: v for k, v in json.loads(text).items() if k != "hooks"
    }
    made = () if not before else ("hooks",) if "SessionStart" not in before else KEYS
    path: list[str | int] = [*KEYS, len(lists(added)) - 1]
    assert without(added, path[: len(made) + 1]) == text


def test_it_is_laid_out_as_the_rest_of_the_text() -> None:
    assert with_item('{"a": 1}', ("b",), 2) == '{"a": 1, "b": [2]}'
    assert with_item("{}", ("b",), 2) == '{\n  "b": [\n    2\n  ]\n}'
    added = with_item('{\r\n\t"a": 1\r\n}', ("b",), {"c": 2})
    assert added == '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t{\r\n\t\t\t"c": 2\r\n\t\t}\r\n\t]\r\n}'
    assert with_item('{\n "b": []\n}', ("b",), 2) == '{\n "b": [\n  2\n ]\n}'


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (["a"], '{"b": [1, 2, 3], "c": {"d": 4}}'),
        (["b", 0], '{"a": 0, "b": [2, 3], "c": {"d": 4}}'),
        (["b", 1], '{"a": 0, "b": [1, 3], "c": {"d": 4}}'),
        (["c", "d"], '{"a": 0, "b": [1, 2, 3], "c": {}}'),
        (["c"], '{"a": 0, "b": [1, 2, 3]}'),
    ],
)
def test_a_value_goes_with_its_key_and_its_comma(path: list[str | int], left: str) -> None:
    assert without('{"a": 0, "b": [1, 2, 3], "c": {"d": 4}}', path) == left


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ('// mine\n{"a": 1}', "is not JSON"),
        ('{"a": 1,}', "is not JSON"),
        ('{"a": NaN}', "is not JSON"),
        ("[" * 200_000, "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', '"hooks" that is not an object'),
        ('{"hooks": "x"}', '"hooks" that is not an object'),
        ('{"hooks": {"SessionStart": {}}}', '"hooks.SessionStart" that is not a list'),
        ('{"hooks": {}, "hooks": {}}', '"hooks" twice'),
    ],
)
def test_a_text_that_cannot_be_changed_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Unsuitable, match=reason):
        with_item(text, KEYS, ITEM)


def test_it_is_read_as_an_object() -> None:
    assert parsed(' {"a": 1} ') == {"a": 1}

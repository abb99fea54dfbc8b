r"""Read JSON that another program wrote, so that every text in it can be stored and sent.

JSON can name half of a surrogate pair (`"\ud800"`). Python reads it, but cannot encode the text
that holds it: not as UTF-8, not for the database, not for a process. It becomes U+FFFD here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

DEEPEST = 100
"""Levels of lists and objects; what people and models write has few."""
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"{_HIGH}{_LOW}|({_HIGH}|{_LOW})|\\.", re.DOTALL)
"""A pair, half of one, or another escape: `\\\\ud800` is a backslash and no surrogate."""
_MAY_HOLD = re.compile(r"\\u[dD][89a-fA-F]")
_UNESCAPED = re.compile("[\ud800-\udfff]")
_ENCODED = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""Half of a pair in UTF-8's form, which UTF-8 forbids."""


def loads(text: bytes | str) -> Any:
    """Return the value, with null for NaN and Infinity. Bytes are UTF-8.

    Raises `ValueError` or `RecursionError`, as `json.loads` does.
    """
    if isinstance(text, bytes):
        text = _ENCODED.sub("\ufffd".encode(), text).decode("utf-8-sig")
    else:
        text = _UNESCAPED.sub("\ufffd", text)
    return json.loads(without_halves(text), parse_constant=lambda _: None)


def without_depths(value: Any) -> Any:
    """Empty every list and object that is nested deeper than `DEEPEST`, and return the value.

    What is nested a thousand deep can be read, but writing it as JSON raises `RecursionError`.
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return value
    for each in level:
        if isinstance(each, dict | list):
            each.clear()
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def without_halves(text: str) -> str:
    """JSON text in which each escape that names half of a pair names U+FFFD instead."""
    return _ESCAPE.sub(_whole, text) if _MAY_HOLD.search(text) else text


def _whole(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape[1] else escape[0]

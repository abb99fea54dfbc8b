r"""Read JSON from other programs, and replace characters that Python cannot encode.

JSON can contain half of a surrogate pair (`"\ud800"`). Python reads such a text, but cannot encode
the text as UTF-8, store it in the database or pass it to a process. This module replaces each half
with U+FFFD.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable
from typing import Any

DEEPEST = 100
"""Maximum depth of nested lists and objects that `without_depths` keeps."""
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"{_HIGH}{_LOW}|({_HIGH}|{_LOW})|\\.", re.DOTALL)
"""Matches an escaped surrogate pair, half of a pair, or another escape. Matching other escapes
keeps `\\\\ud800`, a backslash with the text `ud800`, from being read as half of a pair."""
_MAY_HOLD = re.compile(r"\\u[dD][89a-fA-F]")
_UNESCAPED = re.compile("[\ud800-\udfff]")
_ENCODED = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""Matches half of a surrogate pair, encoded in a form that UTF-8 forbids."""
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""The decoder for all texts. `json.loads` with `parse_constant` would build a decoder for each
text."""


def loads(text: bytes | str) -> Any:
    """Parse JSON text, or JSON bytes in UTF-8. NaN and Infinity become None.

    Raises `ValueError` or `RecursionError`, as `json.loads` does.
    """
    if isinstance(text, bytes):
        if b"\xed" in text:
            text = _ENCODED.sub("\ufffd".encode(), text)
        text = text.removeprefix(codecs.BOM_UTF8).decode()
    else:
        text = _UNESCAPED.sub("\ufffd", text)
    return _DECODER.decode(without_halves(text))


def without_depths(value: Any) -> Any:
    """Empty every list and object that is nested deeper than `DEEPEST`, and return the value.

    Python can read deeper JSON, but raises `RecursionError` when it writes such a value.
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for container in level for inner in _inside(container)]
        if not level:
            return value
    for container in level:
        if isinstance(container, dict | list):
            container.clear()
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def without_halves(text: str) -> str:
    """Replace each escape for half of a surrogate pair with the escape for U+FFFD."""
    if "\\u" not in text or not _MAY_HOLD.search(text):
        return text
    return _ESCAPE.sub(_whole, text)


def _whole(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape[1] else escape[0]

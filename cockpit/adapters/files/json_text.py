"""Add or remove one value in a JSON text, and keep every other character as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KeyPath = Sequence[str | int]
"""The place of a value in a JSON text: keys and list indexes, the outermost first."""

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Unsuitable(ValueError):
    """The text cannot be changed; the message is a clause that can follow the file's path."""


@dataclass(frozen=True, slots=True)
class _Child:
    key: str | int
    begin: int
    """Position of the value's key; in a list, of the value."""
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    begin: int
    """Position of the opening bracket."""
    end: int
    """Position of the closing bracket."""
    children: tuple[_Child, ...]


def parsed(text: str) -> dict[str, Any]:
    """Parse a text that is one JSON object. Raises `Unsuitable` for any other text."""
    try:
        value = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        where = f": {error}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unsuitable(f"is not JSON{where}") from None
    if not isinstance(value, dict):
        raise Unsuitable("is not a JSON object")
    return value


def with_item(text: str, keys: Sequence[str], item: object) -> str:
    """Return the text with an item appended to the list at `keys`; creates missing parts.

    Raises `Unsuitable` if the text is not a JSON object, if `keys` lead to a value of another type,
    or if an object has one of the keys twice.
    """
    parsed(text)
    root = container = _outermost(text)
    for depth, key in enumerate(keys):
        _check_bracket(text, container, "{", keys[:depth])
        child = _child(container, key)
        if child is None:
            value: object = [item]
            for name in reversed(keys[depth + 1 :]):
                value = {name: value}
            written = json.dumps(key) + ": " + _layout(text, root, depth).dumped(value)
            return _appended(text, root, container, depth, written)
        container = _container(text, child.value)
    _check_bracket(text, container, "[", keys)
    depth = len(keys)
    return _appended(text, root, container, depth, _layout(text, root, depth).dumped(item))


def without(text: str, path: KeyPath) -> str:
    """Return the text without the value at `path`, its key and its comma. The value must exist.

    Raises `Unsuitable` if an object has one of the keys twice.
    """
    container = _outermost(text)
    for key in path[:-1]:
        inner = _child(container, key)
        assert inner is not None
        container = _container(text, inner.value)
    removed = _child(container, path[-1])
    assert removed is not None
    at = container.children.index(removed)
    if len(container.children) == 1:
        begin, end = container.begin + 1, container.end
    elif at > 0:
        begin, end = container.children[at - 1].end, removed.end
    else:
        begin, end = removed.begin, container.children[1].begin
    return text[:begin] + text[end:]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of the values in one container."""

    line_end: str
    unit: str | None
    """The indentation of one level; None if the text is one line."""
    depth: int

    @property
    def before(self) -> str:
        """The whitespace before a value of the container."""
        return "" if self.unit is None else self.line_end + self.unit * (self.depth + 1)

    @property
    def after(self) -> str:
        """The whitespace before the closing bracket of the container."""
        return "" if self.unit is None else self.line_end + self.unit * self.depth

    def dumped(self, value: object) -> str:
        written = json.dumps(value, indent=self.unit, ensure_ascii=False)
        return written.replace("\n", self.before)


def _layout(text: str, root: _Container, depth: int) -> _Layout:
    line_end = "\r\n" if "\r\n" in text else "\n"
    if not root.children:
        return _Layout(line_end, "  ", depth)
    before = text[root.begin + 1 : root.children[0].begin]
    unit = before.rpartition("\n")[2] if "\n" in before else None
    return _Layout(line_end, unit, depth)


def _appended(text: str, root: _Container, container: _Container, depth: int, written: str) -> str:
    layout = _layout(text, root, depth)
    if container.children:
        end = container.children[-1].end
        space = " " if layout.unit is None else layout.before
        return f"{text[:end]},{space}{written}{text[end:]}"
    opening, rest = text[: container.begin + 1], text[container.end :]
    return opening + layout.before + written + layout.after + rest


def _check_bracket(text: str, container: _Container, bracket: str, keys: Sequence[str]) -> None:
    if text[container.begin] != bracket:
        kind = "an object" if bracket == "{" else "a list"
        raise Unsuitable(f'has a "{".".join(keys)}" that is not {kind}')


def _child(container: _Container, key: str | int) -> _Child | None:
    children = [child for child in container.children if child.key == key]
    if len(children) > 1:
        raise Unsuitable(f'has the key "{key}" twice in one object')
    return children[0] if children else None


def _outermost(text: str) -> _Container:
    return _container(text, _after_space(text, 0))


def _container(text: str, begin: int) -> _Container:
    """Return the object or list that begins at this position; for any other value, an empty
    container."""
    if text[begin] not in "{[":
        return _Container(begin, begin, ())
    children: list[_Child] = []
    at = _after_space(text, begin + 1)
    while text[at] not in "}]":
        key: str | int = len(children)
        value = first = at
        if text[begin] == "{":
            key, at = _DECODER.raw_decode(text, at)
            value = _after_space(text, _after_space(text, at) + 1)
        _, at = _DECODER.raw_decode(text, value)
        children.append(_Child(key, first, value, at))
        at = _after_space(text, at)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return _Container(begin, at, tuple(children))


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _refused(constant: str) -> None:
    raise ValueError(constant)

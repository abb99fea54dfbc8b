"""Find the line of each key in a TOML file, so that errors can point at it.

Reads only text that the standard parser has accepted, and validates nothing. Keys in inline tables
have the line on which they are written.
"""

from __future__ import annotations

from dataclasses import field

from cockpit.core.deferred_dataclass import dataclass

KeyPath = tuple[str | int, ...]
"""Keys from the top level; a number is an index in an array, from 0."""


class Lines:
    """The line numbers of the keys in a TOML text, by key path."""

    def __init__(self, found: dict[KeyPath, int]) -> None:
        self._found = found

    def of(self, path: KeyPath) -> int:
        """Return the line of a key.

        For a key without a line of its own: the line of the first key inside it, else of the
        nearest enclosing table, else 1.
        """
        if path not in self._found:
            inside = [line for key, line in self._found.items() if key[: len(path)] == path]
            if path and inside:
                return min(inside)
        for length in range(len(path), 0, -1):
            if line := self._found.get(path[:length]):
                return line
        return 1

    def exactly(self, path: KeyPath) -> int | None:
        """Return the line of exactly this key; None if the file does not have the key."""
        return self._found.get(path)


def lines_of(text: str) -> Lines:
    """Return the line of every key in a valid TOML text."""
    scan = _Scan(text)
    scan.document()
    return Lines(scan.found)


@dataclass
class _Scan:
    text: str
    at: int = 0
    line: int = 1
    table: KeyPath = ()
    found: dict[KeyPath, int] = field(default_factory=dict)
    counts: dict[KeyPath, int] = field(default_factory=dict)

    def document(self) -> None:
        while self._skip_blank(newlines=True):
            if self.text[self.at] == "[":
                self._header()
            else:
                self._pair(self.table)

    def _move(self, count: int = 1) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count

    def _skip_blank(self, *, newlines: bool) -> bool:
        blank = " \t\r\n" if newlines else " \t"
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in blank:
                self._move()
            else:
                return True
        return False

    def _header(self) -> None:
        array = self.text.startswith("[[", self.at)
        line = self.line
        self._move(2 if array else 1)
        keys = self._keys("]")
        self._move(2 if array else 1)
        self.table = self._enter(keys, array=array)
        self.found.setdefault(self.table, line)
        if array:
            self.found.setdefault(self.table[:-1], line)

    def _enter(self, keys: tuple[str, ...], *, array: bool) -> KeyPath:
        path: KeyPath = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            last = position == len(keys) - 1
            if last and array:
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self.line
        path: KeyPath = (*table, *self._keys("="))
        self.found.setdefault(path, line)
        self._move()
        self._skip_blank(newlines=False)
        self._value(path)

    def _keys(self, end: str) -> tuple[str, ...]:
        keys: list[str] = []
        while self.text[self.at] != end:
            character = self.text[self.at]
            if character in "\"'":
                keys.append(self._string())
            elif character in " \t.":
                self._move()
            else:
                start = self.at
                while self.text[self.at] not in f" \t.{end}":
                    self._move()
                keys.append(self.text[start : self.at])
        return tuple(keys)

    def _string(self) -> str:
        """Skip a string of any of the four kinds, and return its text with escapes unprocessed."""
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        start = self.at + len(fence)
        end = start
        while not self.text.startswith(fence, end):
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
        if len(fence) == 3:
            # Up to two quotes may directly precede the closing quotes.
            while self.text.startswith(quote, end + 3):
                end += 1
        self._move(end + len(fence) - self.at)
        return self.text[start:end]

    def _value(self, path: KeyPath) -> None:
        character = self.text[self.at]
        if character in "\"'":
            self._string()
        elif character == "[":
            self._array(path)
        elif character == "{":
            self._inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self._move()

    def _array(self, path: KeyPath) -> None:
        self._move()
        place = 0
        while self._skip_blank(newlines=True) and self.text[self.at] != "]":
            if self.text[self.at] == ",":
                place += 1
                self._move()
                continue
            self.found.setdefault((*path, place), self.line)
            self._value((*path, place))
        self._move()

    def _inline_table(self, path: KeyPath) -> None:
        self._move()
        while self._skip_blank(newlines=True) and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self._move()
                continue
            self._pair(path)
        self._move()

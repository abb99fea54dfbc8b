"""Colour the code in a diff by its syntax. Slow for long texts: run it off the event loop.

The code is untrusted. Only well-known languages are recognised, by the file name extension, so that
a file's content cannot choose the lexer, and no Pygments plugin is loaded. Long hunks and hunks
with a long line stay without colours, as does the rest of a diff after the time limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from time import monotonic
from typing import Any, NamedTuple

from cockpit.core.safetext import safe_line
from cockpit.tui.present.diff import Hunk, hunks
from cockpit.tui.present.fold import LONGEST, TAB
from cockpit.tui.present.span import Span, merged

Colours = Mapping[int, list[Span]]
"""The spans of a line of code, without its sign, by the line's number in the text of the diff."""

SECONDS = 3.0
"""Seconds after which the rest of a diff stays without colours."""
LONGEST_LINE = 500
"""A hunk with a line of more characters than this is not coloured."""
MOST_LINES = 2000
"""A hunk with more lines than this is not coloured."""

LANGUAGES = {
    "python": "py pyi pyw", "javascript": "js mjs cjs jsx", "typescript": "ts tsx mts",
    "go": "go", "rust": "rs", "c": "c h", "cpp": "cc cpp cxx hh hpp", "java": "java",
    "kotlin": "kt kts", "swift": "swift", "csharp": "cs", "ruby": "rb", "php": "php",
    "lua": "lua", "bash": "sh bash zsh", "json": "json", "yaml": "yaml yml", "toml": "toml",
    "ini": "ini cfg", "html": "html htm", "css": "css", "scss": "scss", "sql": "sql",
    "xml": "xml svg", "elixir": "ex exs", "haskell": "hs", "scala": "scala", "dart": "dart",
    "zig": "zig", "make": "mk",
}  # fmt: skip
"""The file name extensions of each language, by the name of the language's lexer."""
LEXER_OF = {end: name for name, ends in LANGUAGES.items() for end in ends.split()}

_ROLES = (
    ("Comment", "syntax-comment"),
    ("Literal.String", "syntax-string"),
    ("Literal.Number", "syntax-number"),
    ("Keyword.Constant", "syntax-number"),
    ("Keyword", "syntax-keyword"),
    ("Operator.Word", "syntax-keyword"),
    ("Name.Function", "syntax-name"),
    ("Name.Class", "syntax-name"),
    ("Name.Decorator", "syntax-name"),
    ("Name.Tag", "syntax-keyword"),
    ("Name.Attribute", "syntax-name"),
)
"""Pairs of the beginning of a token type and its role; the first match counts."""


class _Code(NamedTuple):
    number: int
    text: str


def colours(text: str, seconds: float = SECONDS) -> Colours:
    """Return the coloured lines of a diff, by line number; lines without colours are left out.

    Colouring ends after `seconds`.
    """
    by_line: dict[int, list[Span]] = {}
    until = monotonic() + seconds
    for hunk in hunks(text):
        if monotonic() >= until:
            break
        lexer = LEXER_OF.get(hunk.path.rpartition(".")[2].lower())
        if lexer is None or not _is_moderate(hunk):
            continue
        for side in _sides(hunk):
            code = [
                _Code(number, safe_line(line.expandtabs(TAB), LONGEST)[1:])
                for number, line in hunk.lines
                if line[:1] in (side, " ")
            ]
            by_line.update(_side(lexer, code, until))
    return by_line


def _sides(hunk: Hunk) -> str:
    """Return the signs of a hunk's sides: `-` for old code, `+` for new code, `-+` for both.

    The two sides are coloured separately.
    """
    signs = {line[:1] for _, line in hunk.lines}
    return "-+" if {"-", "+"} <= signs else "-" if "-" in signs else "+"


def _is_moderate(hunk: Hunk) -> bool:
    return len(hunk.lines) <= MOST_LINES and all(
        len(line) <= LONGEST_LINE for _, line in hunk.lines
    )


def _side(lexer: str, code: list[_Code], until: float) -> Iterator[tuple[int, list[Span]]]:
    """Yield the coloured lines of one side of a hunk."""
    line: list[Span] = []
    at = 0
    for value, role in _tokens(lexer, "\n".join(line_of_code.text for line_of_code in code)):
        if monotonic() >= until:
            return
        first, *rest = value.split("\n")
        line.append(Span(first, role))
        for part in rest:
            if at < len(code):
                yield from _checked(code[at], line)
            line, at = [Span(part, role)], at + 1
    if at < len(code):
        yield from _checked(code[at], line)


def _checked(code: _Code, line: list[Span]) -> Iterator[tuple[int, list[Span]]]:
    """Yield the line if the lexer has not changed the line's text; else nothing."""
    if "".join(span.text for span in line) == code.text:
        yield code.number, merged(line)


def _tokens(lexer: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield pieces of the text with their roles."""
    for token, value in _lexer(lexer).get_tokens(text):
        yield value, _role(token)


@lru_cache(maxsize=len(LANGUAGES))
def _lexer(name: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # loaded only when a diff is shown

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@lru_cache(maxsize=1024)
def _role(token: object) -> str:
    kind = str(token).removeprefix("Token.")
    return next((role for begin, role in _ROLES if kind.startswith(begin)), "")

"""Find credentials by their shape alone, from the table in `core.secret_kinds`.

A shape is tried only in long runs of characters that contain its first letters or one of its words,
so ordinary text needs one pass.

The search takes linear time for any text: an expression ends after the shortest length of a shape,
the rest of a run is read once for all shapes that begin in it, and one pass locates all runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.secret_commands import command_secrets
from cockpit.core.secret_files import file_secrets
from cockpit.core.secret_keys import key_blocks
from cockpit.core.secret_kinds import KINDS, Kind
from cockpit.core.secret_places import placed_secrets, url_secrets
from cockpit.core.secret_templates import Choice, Mark, expression, open_alphabet, parts
from cockpit.core.secret_words import words_of
from cockpit.core.token_runs import placed_runs, token_runs

Span = tuple[int, int, str]
LONGEST_SAMPLE = 40
"""Maximum characters after a shape's shortest length that are searched for a sample's words
(`EXAMPLE`)."""


def shaped_secrets(text: str, runs: str | None = None) -> Iterator[Span]:
    """Yield start, end and kind of each credential in a text; the spans may overlap."""
    # `İ` is the only letter whose lower case is longer, so it would shift all later positions.
    folded = text.replace("İ", "I").lower()
    shapes = _by_run(token_runs(text) if runs is None else runs)
    if shapes:
        for at, run in placed_runs(text):
            for start, end, kind in shapes.get(run, ()):
                yield at + start, at + end, kind
    yield from key_blocks(text)
    words = words_of(folded)
    yield from placed_secrets(text, folded, words)
    yield from file_secrets(text, folded, words)
    yield from command_secrets(text, folded, words)


def looks_secret(value: str) -> bool:
    """Return whether the whole value has the shape of a credential."""
    whole = (0, len(value))
    return token_runs(value) == value and any(span[:2] == whole for span in _by_shape(value))


def url_passwords(value: str) -> Iterator[str]:
    """Yield the passwords and tokens in the URLs of a value."""
    for start, end, _ in url_secrets(value):
        yield value[start:end]


def _by_run(searched: str) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    begin = end = -1
    for start, stop, family in sorted(_by_shape(searched)):
        if start >= end:
            begin = searched.rfind("\n", max(end, 0), start) + 1 or max(end + 1, 0)
            end = searched.find("\n", start)
            end = end if end >= 0 else len(searched)
        spans.setdefault(searched[begin:end], []).append((start - begin, stop - begin, family))
    return spans


def _by_shape(searched: str) -> Iterator[Span]:
    starts, by_start, inner = _rules()
    reached: dict[str, tuple[int, int]] = {}
    for start in starts.finditer(searched):
        for shape in by_start[start[0]]:
            match = shape.rule.match(searched, start.start())
            if match and not _is_sample(searched[start.start() : match.end() + LONGEST_SAMPLE]):
                yield _span(shape, match, searched, reached)
    for word, shape in inner:
        if word in searched:
            reached = {}
            for match in shape.rule.finditer(searched):
                yield _span(shape, match, searched, reached)


def _span(
    shape: Shape, match: re.Match[str], searched: str, reached: dict[str, tuple[int, int]]
) -> Span:
    """Return the span of the credential, up to the end of the run in which its shape ends.

    `reached` has the last span that was read for each alphabet, so that no character is read again
    for another shape.
    """
    start, end = match.span(match.lastgroup or 0)
    if shape.rest is not None:
        alphabet = shape.rest.pattern
        first, last = reached.get(alphabet, (0, 0))
        if not first <= end <= last:
            last = shape.rest.match(searched, end).end()  # type: ignore[union-attr]
            reached[alphabet] = end, last
        end = last
    return start, end, shape.family


def _is_sample(token: str) -> bool:
    return "EXAMPLE" in token or "xxxxxx" in token.lower()


@dataclass(frozen=True, slots=True)
class Shape:
    """The rule that finds the secrets of one kind."""

    rule: re.Pattern[str]
    rest: re.Pattern[str] | None
    """Matches the characters that may follow, if the kind ends in a run of any length."""
    family: str


Rules = tuple[re.Pattern[str], dict[str, list[Shape]], list[tuple[str, Shape]]]


@cache
def _rules() -> Rules:
    """Return an expression for the first letters of all kinds, the rules by first letters, and the
    rules without first letters, each with a word that its secrets contain."""
    by_start: dict[str, list[Shape]] = {}
    inner: list[tuple[str, Shape]] = []
    for kind in KINDS:
        if kind.how != "shape":
            continue
        rule = expression(kind.template)
        alphabet = open_alphabet(kind.template)
        rest = None if alphabet is None else re.compile(f"{alphabet}*")
        beginnings = first_letters(kind)
        if beginnings == {""}:
            bounded = re.compile(rf"(?<![A-Za-z0-9])(?:{rule})")
            inner.append((_word_inside(kind), Shape(bounded, rest, kind.family)))
        for start in beginnings - {""}:
            by_start.setdefault(start, []).append(Shape(re.compile(rule), rest, kind.family))
    # If one beginning is a prefix of a longer one, the rules of both are tried at the longer one.
    for start, rules in by_start.items():
        for other in by_start:
            if start != other and start.startswith(other):
                rules += by_start[other]
    return re.compile(rf"(?<![A-Za-z0-9]){_any_of(by_start)}"), by_start, inner


def first_letters(kind: Kind) -> set[str]:
    """Return the texts with which a kind's shape can begin; an empty text if the shape begins with
    variable characters."""
    beginnings = {""}
    for part in parts(kind.template):
        if isinstance(part, str):
            beginnings = {start + part for start in beginnings}
        elif isinstance(part, Choice):
            beginnings = {start + word for start in beginnings for word in part.words}
        elif not isinstance(part, Mark):
            break
    return {
        start.rpartition(" ")[2] if start.startswith("FlyV1") else start for start in beginnings
    }


def _word_inside(kind: Kind) -> str:
    words = [part for part in parts(kind.template) if isinstance(part, str)]
    return max(words, key=len)


def _any_of(words: Iterable[str]) -> str:
    """Build an expression that matches the longest of many words, and reads no letter twice."""
    tree: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    ways = [re.escape(letter) + _branch(below) for letter, below in node.items() if letter]
    if not ways:
        return ""
    joined = ways[0] if len(ways) == 1 and "" not in node else f"(?:{'|'.join(ways)})"
    return joined + ("?" if "" in node else "")

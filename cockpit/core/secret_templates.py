"""Parse the templates of `core.secret_kinds` and convert them to regular expressions."""

from __future__ import annotations

import re

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.secret_kinds import ALPHABETS

_PART = re.compile(
    r"(?P<literal>[^{}<>]+|\{\{|\}\})"
    r"|(?P<mark>[<>])"
    r"|\{(?P<alphabet>[A-Za-z9]):(?P<low>[0-9]+)(?:-(?P<high>[0-9]+))?(?P<exact>!)?\}"
    r"|\{(?P<words>U|[^{}:]*\|[^{}:]*)\}"
)


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a template: `low` to `high` characters of one alphabet."""

    alphabet: str
    low: int
    high: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of a template: one of several words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a template: the mark at which the secret begins (`<`) or ends (`>`)."""

    side: str


Part = str | Run | Choice | Mark


def parts(template: str) -> list[Part]:
    """Parse a template. Raises `ValueError` if it is invalid."""
    pieces: list[Part] = []
    at = 0
    while at < len(template):
        part = _PART.match(template, at)
        if part is None:
            raise ValueError(f"{template!r} cannot be read at {at}")
        pieces += _read(part)
        at = part.end()
    return pieces


def _read(part: re.Match[str]) -> list[Part]:
    if part["literal"]:
        return [{"{{": "{", "}}": "}"}.get(part["literal"], part["literal"])]
    if part["mark"]:
        return [Mark(part["mark"])]
    if part["words"] == "U":
        return [piece for group in _UUID_RUNS for piece in group]
    if part["words"]:
        return [Choice(tuple(part["words"].split("|")))]
    low = int(part["low"])
    return [Run(part["alphabet"], low, int(part["high"] or low), bool(part["exact"]))]


_UUID_RUNS: tuple[tuple[Part, ...], ...] = (
    (Run("h", 8, 8, True), "-"),
    (Run("h", 4, 4, True), "-"),
    (Run("h", 4, 4, True), "-"),
    (Run("h", 4, 4, True), "-"),
    (Run("h", 12, 12, True),),
)


def expression(template: str) -> str:
    """Convert a template to a regular expression; `<` and `>` become the group `s`.

    A run without `!` may be a quarter shorter than in the template, or half longer; the last run
    may be three times as long, if other text follows it. A run at the end of the template has no
    maximum length: the expression ends at the shortest length of that run, and `open_alphabet` has
    the characters that may follow.
    """
    pieces: list[str] = []
    read = parts(template)
    is_open = open_alphabet(template) is not None
    runs = [n for n, part in enumerate(read) if isinstance(part, Run)]
    for number, part in enumerate(read):
        if isinstance(part, Run):
            last = number == runs[-1]
            pieces.append(_run(part, last=last, is_open=last and is_open))
            if not part.exact and _ends(part, read[number + 1 :]):
                pieces.append("+")  # possessive: fewer characters would not match either
        elif isinstance(part, Choice):
            pieces.append(f"(?:{'|'.join(map(re.escape, part.words))})")
        elif isinstance(part, Mark):
            pieces.append("(?P<s>" if part.side == "<" else ")")
        else:
            pieces.append(re.escape(part))
    return "".join(pieces)


def _ends(run: Run, following: list[Part]) -> bool:
    """Return whether the text after a run cannot be a part of the run."""
    after = next((part for part in following if not isinstance(part, Mark)), None)
    words = after.words if isinstance(after, Choice) else [after] if isinstance(after, str) else []
    firsts = "".join(word[0] for word in words)
    return bool(firsts) and not re.search(f"[{ALPHABETS[run.alphabet]}]", firsts)


def open_alphabet(template: str) -> str | None:
    """Return the characters of the run at the template's end, as a regular expression; None if the
    template does not end in a run, or if that run has an exact length."""
    last = next(part for part in reversed(parts(template)) if not isinstance(part, Mark))
    if not isinstance(last, Run) or last.exact:
        return None
    return f"[{ALPHABETS[last.alphabet]}]"


def _run(run: Run, *, last: bool, is_open: bool) -> str:
    characters = f"[{ALPHABETS[run.alphabet]}]"
    if run.exact:
        following = f"(?!{characters})" if last else ""
        return f"{characters}{{{run.low}}}{following}"
    low = run.low - run.low // 4
    if is_open:
        return f"{characters}{{{low}}}"
    return f"{characters}{{{low},{run.high * 3 if last else run.high + run.high // 2}}}"

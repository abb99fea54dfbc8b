# ruff: noqa: E501
"""The work of redaction grows with the text and not faster, whatever the text repeats.

No clock: a copy of the modules is loaded whose expressions and texts count the characters that they
look at. A match costs what it covers; an expression that does not match costs the longest text
that it could have covered, or all the rest where it has no longest; a search costs what it passes.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from cockpit.core import deferred_pattern
from cockpit.core.secret_commands import PROGRAMS
from cockpit.core.secret_kinds import KINDS
from cockpit.core.secret_names import ANCHORS
from cockpit.core.secret_shapes import first_letters
from cockpit.core.secret_templates import parts
from tests.long_cases import cases

GROWTH = {6_000: 2.08, 24_000: 2.3, 96_000: 2.3}
"""Twice so many characters may cost this many times the work. The first bound is narrow: in a short
text, work that grows with the square of the length shows by little."""
ENDLESS = 100_000


class Work:
    """Characters looked at."""

    done = 0


class CountedText(str):
    """A text that counts what is searched in it."""

    __slots__ = ()

    def find(self, *arguments: Any) -> int:
        at = str.find(self, *arguments)
        begin = arguments[1] if len(arguments) > 1 else 0
        end = arguments[2] if len(arguments) > 2 else len(self)
        Work.done += max(1, (at if at >= 0 else min(end, len(self))) - begin)
        return at

    def __contains__(self, part: object) -> bool:
        return self.find(part) >= 0

    def lower(self) -> CountedText:
        return CountedText(str.lower(self))

    def replace(self, *arguments: Any) -> CountedText:
        Work.done += len(self)
        return CountedText(str.replace(self, *arguments))


class CountedExpression:
    """A compiled expression that counts what it looks at."""

    def __init__(self, compiled: re.Pattern[str]) -> None:
        self._compiled = compiled
        self.pattern = compiled.pattern
        width = re._parser.parse(compiled.pattern, compiled.flags & ~re.UNICODE).getwidth()[1]  # type: ignore[attr-defined, unused-ignore]
        self._longest = int(width)

    def match(self, text: str, at: int = 0, *end: int) -> re.Match[str] | None:
        found = self._compiled.match(text, at, *end)
        rest = len(text) - at
        if found:
            rest = found.end() - at
        elif self._longest < ENDLESS:
            rest = min(rest, self._longest)
        Work.done += 1 + rest
        return found

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._compiled, name)

        def counted(*arguments: Any) -> Any:
            text = next(each for each in arguments if isinstance(each, str))
            begin, *end = [each for each in arguments if isinstance(each, int)] or [0]
            result = method(*arguments)
            last = end[0] if end else len(text)
            if name == "search" and result:
                last = result.end()
            Work.done += 1 + last - begin
            return result

        return counted


def is_ours(name: str) -> bool:
    return name.startswith(("cockpit.core.secret_", "cockpit.core.redaction")) or name in (
        "cockpit.core.token_runs",
        "cockpit.core.known_values",
    )


@pytest.fixture(scope="module")
def counted() -> Iterator[ModuleType]:
    """The redaction, loaded once more, whose expressions count."""
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    compile_really = re.compile
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(re, "compile", lambda *a: CountedExpression(compile_really(*a)))
        patched.setattr(deferred_pattern, "deferred_pattern", lambda *a: re.compile(*a))
        module = importlib.import_module("cockpit.core.redaction")
        module.Redactor().redact("sk-")  # the rules of shapes are compiled at their first use
    yield module
    for name in [name for name in sys.modules if is_ours(name)]:
        del sys.modules[name]
    sys.modules.update(loaded)


def work(module: ModuleType, trigger: str, length: int) -> int:
    Work.done = 0
    text = (trigger * (length // len(trigger) + 1))[:length]
    for _ in module.Redactor()._everything(CountedText(text)):
        Work.done += 1
    return Work.done


def prefixes() -> list[str]:
    return sorted(
        {start for kind in KINDS if kind.how == "shape" for start in first_letters(kind)} - {""}
    )


PLACED = sorted(
    "".join(part if isinstance(part, str) else "a" for part in parts(kind.template)) + " "
    for kind in KINDS
    if kind.how == "place"
)
OPENERS = (
    "password=", "password: ", '"password":"', "password", "password=\\n", "://", "a://b:", "https://a@",
    "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----", "-----END PRIVATE KEY-----\nabcdabcdabcdabcdabcd\n", '"a":', '"a":"',
    "data:", "kind: secret\ndata:\n", "data:\n a: QUJD\n", "stringdata:\n a: b\n", "QUJDREVG", "a", "A1", "1", "=",
    "-", "_", ".", "\\", "\\n", "\\\\n", "\n", " ", "\t", '"', "'", "`", "|", "│", "→", "1→", "\x1b[0m", "[", "(",
    "{", "<", "&quot;", "%41", "$", "${", "?", "é", "字", "a@b:", "a:b:", "db:5432:a:b:", "*:*:", "eyJa.eyJ",
    "-eyJ", "private-lines: 1\nabcd\n", "keys_b64: [", 'variable "a" {', 'value="abcdefgh",name', "İ",
    "curl -u a:", "curl -b a=", "docker login -p ", "mysql -p", "openssl -k ", "ldapsearch -w", "a -p b ",
    "machine a login b password ", "cookie: a=b; ", "cookie=", "authorization: bearer ", "requirepass=",
)  # fmt: skip


def too_fast(module: ModuleType, trigger: str) -> float:
    """How many times the work is for twice the text, if that is too much; else 0. A window with a
    bound near the length of the text seems to grow at first; in a longer text it does not."""
    for length, bound in GROWTH.items():
        ratio = work(module, trigger, 2 * length) / work(module, trigger, length)
        if ratio <= bound:
            return 0
    return ratio


@pytest.mark.parametrize("around", ["{}", "{}1-", "-{}"])
@pytest.mark.parametrize("part", cases(0, 5, long=[1, 2, 3, 4, 6, 7]))
def test_repeated_first_letters_of_credentials_cost_one_pass(
    counted: ModuleType, part: int, around: str
) -> None:
    slow = {
        start: ratio
        for start in prefixes()[part::8]
        if (ratio := too_fast(counted, around.format(start)))
    }
    assert slow == {}


@pytest.mark.parametrize(
    "behind", cases("=", " = a\n", long=["", ": ", " ", '="', "A1b_", "=a;", '":"a'])
)
def test_repeated_words_of_names_cost_one_pass(counted: ModuleType, behind: str) -> None:
    assert {word: ratio for word in ANCHORS if (ratio := too_fast(counted, word + behind))} == {}


@pytest.mark.parametrize("trigger", [*OPENERS, *PLACED])
def test_repeated_openers_cost_one_pass(counted: ModuleType, trigger: str) -> None:
    assert not too_fast(counted, trigger)


@pytest.mark.parametrize("behind", [" ", " -p ", " a=b:c%d "])
def test_repeated_programs_cost_one_pass(counted: ModuleType, behind: str) -> None:
    assert {
        name: ratio for name in sorted(PROGRAMS)[::4] if (ratio := too_fast(counted, name + behind))
    } == {}


def test_many_different_credentials_cost_one_pass(counted: ModuleType) -> None:
    def cost(many: int) -> int:
        Work.done = 0
        text = "\n".join(f"AKIA{number:016d}".replace("0", "Q") for number in range(many))
        counted.Redactor()._everything(CountedText(text))
        return Work.done

    assert cost(1200) / cost(600) <= 2.3

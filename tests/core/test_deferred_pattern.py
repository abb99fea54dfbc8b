"""A deferred pattern finds what `re.compile` finds, and compiles nothing before."""

from __future__ import annotations

import re

import pytest

from cockpit.core.deferred_pattern import deferred_pattern


def test_it_finds_what_the_usual_pattern_finds() -> None:
    ours, usual = deferred_pattern(r"(?P<word>b\w+)", re.I), re.compile(r"(?P<word>b\w+)", re.I)
    text = "a Bee, a bat"

    for _ in range(2):
        assert [one.group("word") for one in ours.finditer(text)] == ["Bee", "bat"]
        assert ours.sub("x", text) == usual.sub("x", text)
        assert ours.split(text) == usual.split(text)
        match = ours.search(text, 4)
        assert match is not None
        assert match.span() == (9, 12)
    assert ours.pattern == usual.pattern
    assert ours.flags == usual.flags


def test_it_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_really = re.compile

    def counted(expression: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(expression)
        return compile_really(expression, flags)

    monkeypatch.setattr(re, "compile", counted)
    pattern = deferred_pattern("an expression of this test")
    assert compiled == []

    assert pattern.search("nothing") is None
    assert pattern.search("nothing") is None

    assert compiled == ["an expression of this test"]


def test_a_wrong_expression_is_reported_at_its_first_use() -> None:
    pattern = deferred_pattern("(")

    with pytest.raises(re.error, match="unterminated"):
        pattern.search("a")

"""A user's own layout: sandboxed, still a handoff document, and never the end of a handoff."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.documents import template_process
from cockpit.adapters.documents.template import apply_template, render
from cockpit.core.composition import DocumentInput, compose, draft_from_facts
from cockpit.core.document import SECTIONS, read, validate
from cockpit.core.errors import BadConfig
from cockpit.core.facts import Facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.verified_facts import GitView

FACTS = Facts(goal="Add 2FA. {{ 7 * 7 }} ## Goal", recent_activity=("Bash make test",))
GIT = GitView(is_repository=True, branch="b")
TEXT = compose(
    DocumentInput(draft_from_facts(FACTS, GIT), FrontMatter(id="h", agent="api"), FACTS, GIT, None)
)
BUILT_IN = (
    "# Handoff of {{ front.agent }}\n\n{% for title, body in sections.items() %}"
    "## {{ title }}\n\n{{ body }}\n\n{% endfor %}"
)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stops for a moment is no fault of a template; its own limits are not of time.

    What computes without an end is ended by its limit of processor time.
    """
    monkeypatch.setattr(template_process, "SECONDS", 120.0)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    return tmp_path / "mine.md.j2"


def test_a_template_lays_the_sections_out(template: Path) -> None:
    template.write_text(BUILT_IN)
    text, complaint = apply_template(TEXT, template)
    assert complaint is None
    assert "# Handoff of api\n" in text
    assert validate(text, complete=True) == []
    assert read(text).sections == read(TEXT).sections
    assert read(text).front == read(TEXT).front


def test_every_section_has_a_name_and_foreign_text_is_no_template(template: Path) -> None:
    rows = [title.casefold().replace(" ", "_") for title in SECTIONS if title != "Goal"]
    template.write_text(
        "## Goal\n\n{{ goal }}\n\n"
        + "\n\n".join(f"## {row.replace('_', ' ').title()}\n\n{{{{ {row} }}}}" for row in rows)
    )
    text = render(TEXT, template)
    assert "{{ 7 * 7 }}" in text
    assert "49" not in text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{% if %}", r"mine.md.j2:1: cannot use the handoff template"),
        ("\n{{ nothing_of_ours }}", "'nothing_of_ours' is undefined"),
        ("{{ front.nothing }}", "has no attribute 'nothing'"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ goal.__class__ }}", "unsafe"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ 'x' * 10 ** 7 }}", "larger than 256 KiB"),
        ("{{ '\\U0001f600' * 140_000 }}", "larger than 256 KiB"),
        ("{{ '\\x01' * 262_000 }}", "not a handoff document"),
        ("{% for n in range(10 ** 7) %}x{% endfor %}", "Range too big"),
        ("{{ [].append(1) }}{{ sections.clear() }}", "unsafe|not safely callable"),
        pytest.param(
            "{% for n in range(10 ** 5) %}{% for m in range(10 ** 5) %}{% endfor %}{% endfor %}",
            "(took|used) more than",
            marks=pytest.mark.long,
        ),
        ("{% set x = 'x' * 2 * 10 ** 9 %}{{ x | length }}", "MB of memory"),
        ("{{ ['x'] * 10 ** 9 }}", "MB of memory"),
        ("{{ 9 ** (9 ** 9) }}", "(took|used) more than"),
        ("{{ '%2000000000d' % 1 }}", "memory|larger than 256 KiB"),
        ("only words", "not a handoff document. The section `## Goal` is missing"),
        ("\x00" + "x" * 70_000, "64 KiB"),
    ],
)
def test_a_bad_template_is_named_and_the_built_in_layout_stands(
    template: Path, source: str, words: str
) -> None:
    template.write_text(source)
    text, complaint = apply_template(TEXT, template)
    assert text == TEXT
    assert complaint is not None
    assert str(template) in complaint
    assert "The built-in layout was used." in complaint
    with pytest.raises(BadConfig, match=words) as refused:
        render(TEXT, template)
    assert refused.value.hint


@pytest.mark.parametrize("name", ["nowhere/none.j2", "."])
def test_a_template_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    text, complaint = apply_template(TEXT, tmp_path / name)
    assert text == TEXT
    assert complaint is not None
    assert "cannot read the template" in complaint


def test_control_bytes_of_a_template_go(template: Path) -> None:
    template.write_text(BUILT_IN + "\x1b]52;c;x\x07")
    assert "\x1b" not in render(TEXT, template)

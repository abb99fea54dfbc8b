"""A configuration that is too much for a parser is refused before it is parsed, with its line."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.config.bounds import DEEPEST, LONGEST_NUMBER, MOST_AGENTS, MOST_ENTRIES, excess
from cockpit.config.file import LARGEST_FOUND
from cockpit.config.problems import MOST_FINDINGS
from cockpit.core.errors import BadConfig

LEVELS = f"nested too deeply: more than {DEEPEST} levels"
ENTRIES = f"more than {MOST_ENTRIES:,} keys and values"
NUMBER = f"a number with more than {LONGEST_NUMBER} characters"

TOO_MUCH = {
    "lists": ("\nx = " + "[" * 3000 + "]" * 3000, 2, LEVELS),
    "inline tables": ("\n\nx = " + "{a=" * 1000 + "1" + "}" * 1000, 3, LEVELS),
    "dotted key": (".".join("a" * 20_000) + " = 1", 1, LEVELS),
    "dotted header": ("[" + ".".join("a" * 5_000) + "]", 1, LEVELS),
    "spaced key": (" . ".join("a" * 100) + " = 1", 1, LEVELS),
    "keys": ("a=1\n" * 10_001, 10_001, ENTRIES),
    "tables": ("[a]\n" * 10_001, 10_001, ENTRIES),
    "values": ("x = [" + "1,\n" * 10_001 + "]", 9_999, ENTRIES),
    "number": ("x = 1" + "0" * 5000, 1, NUMBER),
    "hexadecimal": ("y = 1\nx = 0x" + "f" * 5000, 2, NUMBER),
    "fraction": ("x = 1." + "0" * 5000, 1, NUMBER),
    "signed": ("x = -" + "1" * 5000, 1, NUMBER),
}

ENOUGH = [
    '[[agents]]\nname = "a"\nprompt = """' + "[{a.b.c,=\n" * 5000 + '"""',
    "x = '''" + "[" * 100 + "''''\ny = '[[[['",
    'x = """a\\""""""\ny = "\\"' + "[" * 100 + '"',
    "# " + "[" * 5000 + "\nx = 1",
    'x = "' + "1" * 5000 + '"',
    "x = " + "[" * DEEPEST + "]" * DEEPEST,
    ".".join("a" * DEEPEST) + " = 1",
    "x = [" + "1.5, " * 4000 + "]",
]


@pytest.mark.parametrize("name", TOO_MUCH)
def test_too_much_is_refused_with_its_line_and_of_what(project: Any, name: str) -> None:
    text, line, reason = TOO_MUCH[name]
    project.write(text)
    for load in (project.load, project.load_named):
        with pytest.raises(BadConfig) as caught:
            load()
        assert caught.value.title == f"{project.file}:{line}: {reason}"


@pytest.mark.parametrize("text", ENOUGH)
def test_strings_comments_and_what_is_just_enough_do_not_count(text: str) -> None:
    assert excess(text) is None


def test_a_value_that_python_refuses_is_not_valid_toml(project: Any) -> None:
    project.write("x = 1979-05-27T00:32:00+99:99\n")
    with pytest.raises(BadConfig, match="not valid TOML"):
        project.load()


def test_a_found_file_is_smaller_than_one_that_is_named(project: Any) -> None:
    project.write("#" * (LARGEST_FOUND + 1))
    with pytest.raises(BadConfig, match="too large") as caught:
        project.load()
    assert "The limit for a project configuration is 64 KiB." in caught.value.detail
    assert f"--config {project.file}" in caught.value.hint
    assert project.load_named().settings.agents == ()


def test_an_untrusted_file_has_not_more_agents_than_a_fleet(project: Any) -> None:
    project.write("".join(f'[[agents]]\nname = "a{n}"\n' for n in range(MOST_AGENTS + 1)))
    with pytest.raises(BadConfig, match=f"more than {MOST_AGENTS} agents"):
        project.load()
    assert len(project.load_named().settings.agents) == MOST_AGENTS + 1


def test_of_many_findings_the_first_are_told_and_all_are_counted(project: Any) -> None:
    project.write("[cockpit]\n" + "".join(f"k{n} = 1\n" for n in range(4000)))
    with pytest.raises(BadConfig) as caught:
        project.load()
    assert caught.value.title == f"{project.file}:2: cockpit.k0: unknown key"
    assert caught.value.detail.endswith("… and 3990 more")
    assert len(caught.value.detail.splitlines()) <= MOST_FINDINGS

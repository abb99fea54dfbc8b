"""What the documents say is true: keys, commands, names, and nothing of one machine."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cockpit.cli.commands import COMMANDS, cockpit
from cockpit.config.shipped import example_file
from tests.cli.key_tables import markdown, readme_table

HOUSE = Path(__file__).parent.parent
README = HOUSE / "README.md"
DOCUMENTS = [
    *sorted(HOUSE.glob("*.md")),
    *sorted((HOUSE / "cockpit").rglob("*.md")),
]
MAP = HOUSE / "cockpit" / "ARCHITECTURE.md"
LISTS = HOUSE / "CONTRIBUTING.md"
GUIDE_TO_KEYS = HOUSE / "cockpit" / "docs" / "keys.md"
KEYS = re.compile(r"<!-- keys: .*? -->\n(.*?)<!-- end of keys -->", re.DOTALL)
FIRST_KEYS = re.compile(r"<!-- first keys: .*? -->\n(.*?)<!-- end of first keys -->", re.DOTALL)
COMMAND_LINE = re.compile(r"(?:^|[`$|(] ?|; |&& )cockpit ((?:[a-z][a-z-]* ?)*)", re.MULTILINE)
PICTURE = re.compile(r"!\[([^]]*)\]\(")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
PATH = re.compile(r"`((?:core|ports|wire|config|client|adapters|supervisor|tui|cli|demo)/[\w/.]*)`")
TEST_PATH = re.compile(r"`(tests/[\w/]*(?:\.py)?)`")
NAMES_IN_FILE = re.compile(r"`([\w.]+)`(?: and `([\w.]+)`)? (?:in|of) `([\w/]+\.py)`")


def test_the_guide_to_keys_has_those_that_there_are() -> None:
    """After a change of keys: put `tests.cli.key_tables.markdown()` between the marks."""
    written = KEYS.search(GUIDE_TO_KEYS.read_text())

    assert written is not None
    assert written[1].strip() == markdown().strip()


def test_the_readme_has_the_keys_of_the_first_day() -> None:
    """After a change of keys: put `tests.cli.key_tables.readme_table()` between the marks."""
    written = FIRST_KEYS.search(README.read_text())

    assert written is not None
    assert written[1].strip() == readme_table().strip()


def test_the_readme_begins_with_the_two_commands() -> None:
    lines = README.read_text().splitlines()

    assert [line.split("#")[0].strip() for line in lines[3:5]] == ["make demo", "make test"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_is_named_exists(document: Path) -> None:
    unknown = []
    for code in CODE.findall(document.read_text()):
        for words in COMMAND_LINE.findall(code):
            first, _, rest = str(words).strip().partition(" ")
            command = cockpit.commands.get(first)
            if first and command is None:
                unknown.append(first)
            if (
                isinstance(command, click.Group)
                and rest
                and rest.split()[0] not in command.commands
            ):
                unknown.append(f"{first} {rest}")

    assert unknown == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_list_is_indented_by_less_than_four_spaces(document: Path) -> None:
    """A forge shows such a line as a list in a list, the documentation site as part of its text."""
    text = CODE.sub("", document.read_text())

    assert re.findall(r"^ {1,3}[-*] .*", text, re.MULTILINE) == []


def test_every_picture_in_the_readme_says_what_it_is() -> None:
    assert PICTURE.findall(README.read_text())
    assert "" not in PICTURE.findall(README.read_text())


@pytest.mark.parametrize("document", [MAP, LISTS], ids=lambda path: path.name)
def test_every_place_on_the_map_exists(document: Path) -> None:
    text = document.read_text()

    paths = PATH.findall(text)
    assert [p for p in paths if not (HOUSE / "cockpit" / p.rstrip("/")).exists()] == []
    tests = TEST_PATH.findall(text)
    assert [p for p in tests if not (HOUSE / p.rstrip("/")).exists()] == []
    assert paths
    assert tests


def test_every_name_on_the_map_is_in_the_file_beside_it() -> None:
    named = [
        (name, file)
        for document in (MAP, LISTS)
        for *names, file in NAMES_IN_FILE.findall(document.read_text())
        for name in filter(None, names)
    ]
    assert {"Sessions.open", "Sessions.end_process", "COMMANDS", "performers"} <= {
        name for name, _ in named
    }
    for name, file in named:
        path = HOUSE / file if file.startswith("tests/") else HOUSE / "cockpit" / file
        defined = list(_defined(ast.parse(path.read_text())))
        assert any(f".{one}".endswith(f".{name}") for one in defined), f"{file} has no {name}"


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names of a file; those in a class as `Class.name`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for name in _defined(ast.Module(node.body, [])))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_the_map_is_short_enough_to_be_read() -> None:
    """Details belong in the docstring of the module that they are about."""
    text = MAP.read_text()

    assert len(text.splitlines()) <= 200
    assert len(text.split()) <= 2400


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for document in DOCUMENTS
        for code in CODE.findall(document.read_text())
        for target in re.findall(r"\bmake ([a-z]+)", code)
    }

    assert named
    assert named <= targets


def test_every_command_is_in_the_change_log_or_the_guide() -> None:
    told = "\n".join(document.read_text() for document in DOCUMENTS)

    assert [c.name for c in COMMANDS if f"`{c.name}" not in told and f" {c.name}" not in told] == []


def test_the_example_is_toml_and_has_every_line_explained() -> None:
    text = example_file().read_text()

    assert tomllib.loads(text)
    keys = [line for line in text.splitlines() if line and not line.startswith(("#", "["))]
    assert len([line for line in text.splitlines() if line.startswith("#")]) >= len(keys)


def test_nothing_written_is_of_one_machine() -> None:
    files = [*DOCUMENTS, HOUSE / "Makefile", HOUSE / "requirements.lock", example_file()]
    # Spelled apart, so that this file does not hold what it looks for.
    foreign = re.compile("|".join(["/" + "root/", "/" + "work/", "file" + "://", "index" + "-url"]))

    assert [path.name for path in files if foreign.search(path.read_text())] == []


def test_the_lock_has_exact_versions_and_no_address() -> None:
    lines = (HOUSE / "requirements.lock").read_text().splitlines()

    assert lines
    assert [
        line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][\w.+]*", line)
    ] == []

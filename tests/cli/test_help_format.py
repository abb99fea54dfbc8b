"""The help of every command fits into a terminal, without a word broken in two."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
import pytest

from cockpit.cli.commands import cockpit

WIDTH = 78


def contexts(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    context = command.context_class(
        command, parent, info_name=command.name, terminal_width=WIDTH, max_content_width=100
    )
    yield context
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from contexts(each, context)


def helps() -> dict[str, str]:
    return {one.command_path: one.command.get_help(one) for one in contexts(cockpit)}


def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = helps()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = helps()
    wide = [line for text in shown.values() for line in text.split("\n") if len(line) > WIDTH + 2]
    assert not wide
    assert {name: text.split() for name, text in shown.items()} == {
        name: text.split() for name, text in piped.items()
    }


def test_an_explanation_continues_below_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = helps()["cockpit demo"].split("\n")
    at = next(n for n, line in enumerate(lines) if "demo --headless" in line)
    assert lines[at].index("without a screen") == len(lines[at + 1]) - len(lines[at + 1].lstrip())


def test_in_a_pipe_an_example_is_one_line() -> None:
    assert any(len(line) > WIDTH for line in helps()["cockpit demo"].split("\n"))

"""Wrap the help of commands to the terminal.

click leaves the lines of examples as they are, and a terminal breaks a long line inside a word.
"""

from __future__ import annotations

import re
import sys
import textwrap

import click

_EXPLANATION = re.compile(r"\S {2,}(?=\S)")
"""Matches the gap between an example and its explanation."""
LEAST = 20
"""Minimum columns for an explanation; with fewer, the explanation continues at the indent of the
example."""


class HelpFormatter(click.HelpFormatter):
    """In a terminal, breaks lines between words. Other output keeps one example per line."""

    def write_text(self, text: str) -> None:
        before = len(self.buffer)
        super().write_text(text)
        if sys.stdout.isatty():
            paragraphs = "".join(self.buffer[before:]).rstrip("\n").split("\n\n")
            self.buffer[before:] = [
                "\n\n".join(fitted(paragraph, self.width) for paragraph in paragraphs),
                "\n",
            ]


class HelpContext(click.Context):
    formatter_class = HelpFormatter


def use_help_format(command: click.Command) -> None:
    """Use `HelpFormatter` for the help of a command and its subcommands."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            use_help_format(subcommand)


def fitted(paragraph: str, width: int) -> str:
    """Wrap a paragraph to `width`; return it unchanged if no line is longer.

    Joins and wraps lines of prose. Wraps other lines, such as examples, one by one. A word that is
    longer than `width` is not broken.
    """
    lines = paragraph.split("\n")
    if max(map(len, lines)) <= width:
        return paragraph
    indents = {len(line) - len(line.lstrip()) for line in lines}
    if len(indents) == 1 and not any(map(_EXPLANATION.search, lines)):
        lines = [" " * indents.pop() + " ".join(map(str.strip, lines))]
    return "\n".join(_hanging(line, width) for line in lines)


def _hanging(line: str, width: int) -> str:
    """Break a long line between words; align the continuation with the line's explanation.

    Without an explanation, the continuation has the indent of the line.
    """
    if len(line) <= width:
        return line
    column = len(line) - len(line.lstrip())
    for gap in _EXPLANATION.finditer(line):
        if gap.end() <= width - LEAST:
            column = gap.end()
    return textwrap.fill(
        line,
        width,
        subsequent_indent=" " * column,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )

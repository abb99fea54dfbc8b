"""Parse a shell command line as far as possible without a shell.

Finds the simple commands and the operators between them, the setup commands (`cd`, `export`), and
the main program. Runs nothing.
"""

from __future__ import annotations

import re

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern

LONGEST = 4_000
"""Maximum characters of a command line that are read."""
_TOKEN = deferred_pattern(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?P<operator>&&|\|\||\|&|[;|\n]|(?<![<>&])&(?![>&]))",
    re.DOTALL,
)
_HEREDOC = deferred_pattern(
    r"<<-?\s*(['\"]?)([A-Za-z_]\w{0,60})\1([^\n]*)\n.*?(?:\n\s*\2(?=\n|$)|$)", re.S
)
_SIMPLE = deferred_pattern(r"[^'\"\\&|;\n<(){}]*")
"""Matches a command line that is one simple command."""
_SETUP = deferred_pattern(
    r"(?:cd|pushd|export|unset|source|\.|set|umask|ulimit|trap|sleep|true|:)(?:\s|$)|[A-Za-z_]\w*=\S*$"
)
_PREFIX = deferred_pattern(
    r"(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+"
    r"|(?:timeout|gtimeout)\s+(?:-\S+\s+)*\d\S*\s+"
    r"|(?:sudo|time|nice|nohup|command|exec|env|npx|bunx|pnpx|xvfb-run)\s+(?:-\S+\s+)*"
    r"|(?:uv|poetry|pdm|pipenv|hatch|rye|pixi)\s+run\s+(?:--?\S+\s+)*"
    r"|docker(?:-compose|\s+compose)?\s+(?:exec|run)\s+(?:-\S+\s+)*[\w.-]+\s+"
    r"|(?:bundle|pnpm|yarn)\s+exec\s+(?:--\s+)?|pnpm\s+dlx\s+"
    r"|(?:\S*/)?(?:python[\d.]*|py)\s+(?:-[^mc\s]\S*\s+)*-m\s+)"
)

_INTERPRETER = deferred_pattern(r"python[\d.]*|node|bash|sh|zsh|ruby|perl|php|tsx|ts-node|Rscript")
_CODE = frozenset({"-", "-c", "-e", "-lc", "--eval", "<<", "<"})
"""Arguments with which an interpreter runs code from the command line or its standard input."""


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command of a command line."""

    text: str
    joined: str
    """The operator after the command: `&&`, `||`, `;`, `|`, `|&`, `&` or a newline; empty at the
    end."""

    @property
    def is_setup(self) -> bool:
        """Whether the command only prepares for later commands, as `cd` and `export` do."""
        return _SETUP.match(self.text) is not None


def parts(command: str) -> list[Part]:
    """Return the simple commands of a command line, without the text of here-documents."""
    if _SIMPLE.fullmatch(command, 0, LONGEST):
        bare = command[:LONGEST].strip()
        return [Part(bare, "")] if bare else []
    text = _HEREDOC.sub(lambda match: f"{match[3]}", command[:LONGEST])
    pieces, start = [], 0
    for token in _TOKEN.finditer(text):
        operator = token["operator"]
        if operator is not None:
            pieces.append(Part(_bare(text[start : token.start()]), operator))
            start = token.end()
    pieces.append(Part(_bare(text[start:]), ""))
    return [part for part in pieces if part.text]


def work(command: str) -> str:
    """Return a command line on one line, without the setup commands at its beginning.

    The text of here-documents is left out. A command line that has only setup commands keeps them.
    """
    pieces = parts(command)
    first = next((at for at, part in enumerate(pieces) if not part.is_setup), 0)
    return _joined(pieces[first:])


def bare_command(text: str) -> str:
    """Return a simple command, beginning with the name of its program.

    Leaves out assignments of variables, wrappers such as `timeout 5`, `uv run` and `python -m`, and
    the program's directory.
    """
    while (match := _PREFIX.match(text)) is not None and match.end() < len(text):
        text = text[match.end() :]
    program, space, rest = text.partition(" ")
    return f"{program.rpartition('/')[2] or program}{space}{rest}"


def program_of(command: str) -> str:
    """Return the first program of a command line with its subcommand, such as `git push`.

    The subcommand is the first of the next two words that begins with a lower-case letter. Setup
    commands are skipped. An interpreter is returned with its script, if it has one. Empty if there
    is no program.
    """
    pieces = [part for part in parts(command) if not part.is_setup]
    words = bare_command(pieces[0].text).split() if pieces else []
    while len(words) > 2 and words[0] == "git" and words[1][:1] == "-":
        del words[1 : 3 if words[1] in ("-c", "-C") else 2]
    if words and _INTERPRETER.fullmatch(words[0]):
        first = next((word for word in words[1:] if word[:1] != "-" or word in _CODE), "")
        return words[0] if not first or first in _CODE else f"{words[0]} {first}"
    named = next((word for word in words[1:3] if re.fullmatch(r"[a-z][\w:-]{1,30}", word)), "")
    return f"{words[0]} {named}".strip() if words else ""


def _bare(text: str) -> str:
    text = text.strip()
    return text.strip("(){} \t\n") if text[:1] in "({" else text


def _joined(commands: list[Part]) -> str:
    pieces = []
    for at, part in enumerate(commands):
        operator = ";" if part.joined == "\n" else part.joined
        last = at == len(commands) - 1
        space = "" if operator == ";" else " "
        pieces.append(part.text if last or not operator else f"{part.text}{space}{operator} ")
    return " ".join("".join(pieces).split())

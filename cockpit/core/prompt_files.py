"""A first prompt that travels in files: the sentence that names them, and the names in it.

Only the sentence is in the process list. A CLI that puts mentioned files into its first request
gets it instead of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IN_A_FILE = "Read the file {} and do what it says."
"""For a program that mentions nothing: it has to open the file itself."""

_NAME = r"prompt-[0-9a-f]{16}\.md"
_FILE = rf"/[^\n\"]*/{_NAME}"
_FORMS = (
    (re.compile(f'Do what(?: @"{_FILE}")+ says\\.'), re.compile(f'@"({_FILE})"')),
    (re.compile(rf"Do what @{_FILE} says\."), re.compile(rf"@({_FILE}) says")),
    (
        re.compile(rf"Read the file {_FILE} and do what it says\."),
        re.compile(rf"file ({_FILE}) and"),
    ),
)
"""A whole prompt that names files, and each name in it. The second is of earlier versions."""
_WHOLE_NAME = re.compile(_FILE)
_COMMAND = re.compile(r"\s*/[\w:.-]+(\s|\Z)")
_ENDS_A_MENTION = re.compile(r'["\x00-\x1f\x7f]')


def mention(files: Iterable[object]) -> str:
    """A prompt that gives Claude Code the content of files, in order. Their paths are absolute.

    The CLI puts mentioned files into the same request, in every permission mode and without asking,
    also from outside its directory (seen with 2.1.330: 20 files of 20 kB, names with spaces).
    """
    names = " ".join(f'@"{file}"' for file in files)
    return f"Do what {names} says."


def can_be_mentioned(folder: str) -> bool:
    """Whether files in this folder have names that a mention can hold."""
    return not _ENDS_A_MENTION.search(folder)


def prompt_files(prompt: str) -> list[str]:
    """The paths of the files that a prompt was put into, in order; none when it was not."""
    for sentence, named in _FORMS:
        if sentence.fullmatch(prompt):
            return [str(path) for path in named.findall(prompt)]
    return []


def is_prompt_file(name: str) -> bool:
    """Whether an absolute path has the form of a prompt's file."""
    return _WHOLE_NAME.fullmatch(name) is not None


def is_slash_command(prompt: str) -> bool:
    """Whether a CLI runs this prompt as a command (`/review`), which it does in no file."""
    return _COMMAND.match(prompt) is not None

"""First prompts that are passed in files: the sentence that names the files, and its parser.

The CLI gets the sentence instead of the prompt, so the process list does not show the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IN_A_FILE = "Read the file {} and do what it says."
"""The prompt for a CLI that cannot mention files: the model has to open the file."""
IN_A_FILE_FOR_CAT = (
    "Read the file {} with cat and do what it says. If cat prints nothing, run it again."
)
"""The prompt for a CLI whose own tool cannot read files outside the CLI's directory.

The second sentence is for Gemini CLI 0.61.0, which sometimes loses the output of a command that
ends at once.
"""

_NAME = r"prompt-[0-9a-f]{16}\.md"
_FILE = rf"/[^\n\"]*/{_NAME}"
_OPENED_BY_MODEL = re.compile(
    rf"Read the file {_FILE}(?: with cat)? and do what it says\."
    r"(?: If cat prints nothing, run it again\.)?"
)
_FORMS = (
    (re.compile(f'Do what(?: @"{_FILE}")+ says\\.'), re.compile(f'@"({_FILE})"')),
    (re.compile(rf"Do what @{_FILE} says\."), re.compile(rf"@({_FILE}) says")),
    (_OPENED_BY_MODEL, re.compile(rf"file ({_FILE})(?: with cat)? and")),
)
"""For each form of the sentence: an expression for the whole sentence, and one for each file in the
sentence. Earlier versions of cockpit wrote the second form."""
_WHOLE_NAME = re.compile(_FILE)
_IN_A_COMMAND = re.compile(rf"(/[^\s'\"]*/{_NAME})")
_COMMAND = re.compile(r"\s*/[\w:.-]+(\s|\Z)")
_ENDS_A_MENTION = re.compile(r'["\x00-\x1f\x7f]')


def mention(files: Iterable[object]) -> str:
    """Return a prompt that gives Claude Code the content of files, in order. Paths are absolute.

    The CLI adds mentioned files to the same request, in every permission mode, without asking, even
    from outside the agent's directory. This was tested with version 2.1.330, 20 files of 20 kB, and
    names with spaces.
    """
    names = " ".join(f'@"{file}"' for file in files)
    return f"Do what {names} says."


def can_be_mentioned(folder: str) -> bool:
    """Return whether the path of this folder can be part of a mention."""
    return not _ENDS_A_MENTION.search(folder)


def prompt_files(prompt: str) -> list[str]:
    """Return the paths in a sentence that names prompt files, in order; empty for other prompts."""
    for sentence, named in _FORMS:
        if sentence.fullmatch(prompt):
            return [str(path) for path in named.findall(prompt)]
    return []


def mentioned_files(prompt: str) -> list[str]:
    """Return the files of `prompt_files`, if the CLI itself adds them to the prompt; else empty."""
    return [] if _OPENED_BY_MODEL.fullmatch(prompt) else prompt_files(prompt)


def prompt_files_in(command: str) -> list[str]:
    """Return the paths of prompt files in a shell command, each once, in order."""
    return list(dict.fromkeys(_IN_A_COMMAND.findall(command)))


def is_prompt_file(name: str) -> bool:
    """Return whether an absolute path has the form of a prompt file."""
    return _WHOLE_NAME.fullmatch(name) is not None


def is_slash_command(prompt: str) -> bool:
    """Return whether the CLI runs this prompt as a command (`/review`).

    A command does not run from a prompt file.
    """
    return _COMMAND.match(prompt) is not None

"""Split a shell command line into its simple commands, as words.

Runs nothing. Does not expand variables or substitutions. Ignores everything after the `<<` of a
here-document.
"""

from __future__ import annotations

import shlex
from functools import lru_cache

MOST = 4_000
"""Maximum characters of a command line; a longer one is not read."""

_SEPARATORS = frozenset(";&|()\n")
_PREFIXES = frozenset({"command", "env", "exec", "nohup", "sudo", "time"})
_GIT_OPTIONS_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})


@lru_cache(maxsize=512)
def simple_commands(line: str) -> tuple[tuple[str, ...], ...]:
    """Return the simple commands of a line, without assignments and prefixes such as `sudo`.

    Empty if the line is longer than `MOST`, or a quote in it is not closed. Cached, because a
    session's first commands are parsed again after each new command.
    """
    if len(line) > MOST:
        return ()
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>\n")
    reader.whitespace, reader.commenters = " \t\r", ""
    commands: list[list[str]] = [[]]
    try:
        for word in reader:
            if word.startswith("<<") and word != "<<<":
                break  # a here-document: its text is not a command
            if set(word) <= _SEPARATORS:
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:
        return ()
    return tuple(tuple(bare) for words in commands if (bare := _without_prefixes(words)))


def git_command(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return git's subcommand and its arguments; empty if the words run another program."""
    if not words or words[0].rpartition("/")[2] != "git":
        return ()
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_OPTIONS_WITH_VALUE else 1
    return words[at:]


def _without_prefixes(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (words[at] in _PREFIXES or _is_assignment(words[at])):
        at += 1
    return words[at:]


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()

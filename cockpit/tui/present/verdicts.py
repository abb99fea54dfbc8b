"""What git says of a document's claims, beside each of them, for the eye that reviews it.

The document itself is not changed: it says already which commits git does not know, and lists
those that it does. Here both become a sign where the agent names them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cockpit.core.claimed_files import Trace
from cockpit.core.markdown import marked_lines
from cockpit.core.plurals import counted
from cockpit.core.verified_facts import UNVERIFIED, VERIFIED, claimed_commits

FACTS = "\n## Verified Facts\n"
YES, MAYBE, NO = "✓", "?", "✗"

_SIGNS = {Trace.CHANGED: YES, Trace.UNCHANGED: MAYBE, Trace.MISSING: NO}
_HASH = re.compile(r"(?<![\w/.#:-])`?([0-9a-f]{7,40})`?(?![\w/:-])")
_FORGED = re.compile(rf"[ \t]*[{YES}{NO}✔✘☑☒✅❌]")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A document to be looked at, and what its claims came to."""

    body: str
    known: int
    """Commits that it names and git has."""
    unknown: int
    """Commits that it names and git does not have."""
    changed: int = 0
    """Files that it names and that git shows changed."""
    unchanged: int = 0
    """Files that it names and that are there as git has them."""
    missing: int = 0
    """Files that it names and nothing has."""

    def __str__(self) -> str:
        """In words, empty where neither a commit nor a file was checked."""
        said = [f"{YES} {self.known} known to git"] if self.known else []
        said += [f"{NO} {self.unknown} unknown to git"] if self.unknown else []
        said += [f"{YES} {counted(self.changed, 'file')} changed"] if self.changed else []
        said += [f"{MAYBE} {self.unchanged} unchanged"] if self.unchanged else []
        said += [f"{NO} {counted(self.missing, 'file')} missing"] if self.missing else []
        return ", ".join(said)


def verdicts(body: str) -> Verdicts:
    """The document's text with a sign after each commit and file that was checked.

    Signs that the writer put there himself are taken away first. Code stays as it is.
    """
    claims, found, facts = body.rpartition(FACTS)
    if not found:
        return Verdicts(body, 0, 0)
    listed = [line for line in facts.splitlines() if UNVERIFIED not in line]
    has = claimed_commits("\n".join(listed))
    known: set[str] = set()
    unknown: set[str] = set()

    def judged(line: str) -> str:
        named = set(claimed_commits(line))

        def sign(match: re.Match[str]) -> str:
            commit, rest = match[1], line[match.end() :]
            if commit not in named:
                return match[0]
            if rest.lstrip(" `").startswith(UNVERIFIED):
                unknown.add(commit)
                return f"{match[0]} {NO}"
            told = rest.lstrip(" `").startswith(VERIFIED)
            if told or any(one.startswith(commit) or commit.startswith(one) for one in has):
                known.add(commit)
                return f"{match[0]} {YES}"
            return match[0]

        marked = any(trace.value in line for trace in Trace)
        line = _HASH.sub(sign, _FORGED.sub("", line) if named or marked else line)
        for trace, mark in _SIGNS.items():
            line = line.replace(trace.value, f"{mark} {trace.value}")
        return line

    lines = [line if is_code else judged(line) for line, is_code in marked_lines(claims)]
    return Verdicts(
        "\n".join(lines) + found + facts,
        *(len(known), len(unknown)),
        *(
            sum(line.count(f"{mark} {trace.value}") for line in lines)
            for trace, mark in _SIGNS.items()
        ),
    )


def with_continuation(body: str, told: str) -> str:
    """The document with what its reader will be told, quoted under it; as it is where nothing is.

    It stands in the same place as the document, because both are what the successor begins with.
    """
    if not told:
        return body
    quoted = "\n".join(f"> {line}".rstrip() for line in told.splitlines())
    title = "## What the New Session Is Told"
    return f"{body.rstrip()}\n\n---\n\n{title}\n\n{quoted}\n"

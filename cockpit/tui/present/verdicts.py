"""What git says of a document's claims, beside each of them, for the eye that reviews it.

The document itself is not changed: it says the same in sentences, for who cannot ask git. Here
they become signs, and words only where something is to be looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from cockpit.core.claimed_files import Trace
from cockpit.core.markdown import marked_lines
from cockpit.core.plurals import counted
from cockpit.core.verified_facts import UNVERIFIED, VERIFIED, claimed_commits

FACTS = "\n## Verified Facts\n"
YES, MAYBE, NO = "✓", "?", "✗"

_SIGNS = {
    Trace.CHANGED: YES,
    Trace.UNCHANGED: f"{MAYBE} (there, unchanged)",
    Trace.MISSING: f"{NO} (not found)",
}
_UNKNOWN = f"{NO} (unknown to git)"
_HASH = re.compile(
    r"(?<![\w/.#:-])`?([0-9a-f]{7,40})`?(?![\w/:-])"
    rf"(?: ?(?P<said>{re.escape(VERIFIED)}|{re.escape(UNVERIFIED)}))?"
)
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
        """In words, what is to be looked at first; empty where nothing was checked."""
        counts = (
            (f"{NO} {{}} unknown to git", self.unknown, "commit"),
            (f"{NO} {{}} not found", self.missing, "file"),
            (f"{MAYBE} {{}} unchanged", self.unchanged, "file"),
            (f"{YES} {{}}", self.known, "commit"),
            (f"{YES} {{}} changed", self.changed, "file"),
        )
        return ", ".join(said.format(counted(many, what)) for said, many, what in counts if many)


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
    traces: Counter[Trace] = Counter()

    def judged(line: str) -> str:
        named = set(claimed_commits(line))

        def sign(match: re.Match[str]) -> str:
            commit, said = match[1], match["said"]
            if commit not in named:
                return match[0]
            bare = match[0].removesuffix(said or "").rstrip()
            if said == UNVERIFIED:
                unknown.add(commit)
                return f"{bare} {_UNKNOWN}"
            if said or any(one.startswith(commit) or commit.startswith(one) for one in has):
                known.add(commit)
                return f"{bare} {YES}"
            return match[0]

        marked = any(trace.value in line for trace in Trace)
        line = _HASH.sub(sign, _FORGED.sub("", line) if named or marked else line)
        for trace, shown in _SIGNS.items():
            traces[trace] += line.count(trace.value)
            line = line.replace(trace.value, shown)
        return line

    lines = [line if is_code else judged(line) for line, is_code in marked_lines(claims)]
    return Verdicts(
        "\n".join(lines) + found + facts,
        known=len(known),
        unknown=len(unknown),
        changed=traces[Trace.CHANGED],
        unchanged=traces[Trace.UNCHANGED],
        missing=traces[Trace.MISSING],
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

"""Count the results of cockpit's checks of a document's claims, and mark the claims for the review.

The stored document has the same results as text, and is not changed. The review shows the results
as signs; only claims that need attention are explained in words.
"""

from __future__ import annotations

import re
from collections import Counter

from cockpit.core import chain_memory
from cockpit.core.claimed_files import Trace
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.document import CONSTRAINTS
from cockpit.core.markdown import marked_lines
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.core.verified_facts import (
    COMMIT_MARKS,
    NOT_CHECKED,
    UNVERIFIED,
    VERIFIED,
    claimed_commits,
)

FACTS = "\n## Verified Facts\n"
YES, MAYBE, NO = "✓", "?", "✗"

LONGEST_NAME = 60
"""Maximum characters of a file's name in the counts."""

_SIGNS = {
    Trace.CHANGED: YES,
    Trace.UNCHANGED: f"{MAYBE} (exists, unchanged)",
    Trace.MISSING: f"{NO} (not found)",
}
_UNKNOWN = f"{NO} (unknown to git)"
_UNCHECKED = f"{MAYBE} (not checked since your edit)"
_STALE = re.compile(
    "|".join(re.escape(mark) for mark in (*COMMIT_MARKS, *(trace.value for trace in Trace)))
)
_HASH = re.compile(
    r"(?<![\w/.#:-])`?([0-9a-f]{7,40})`?(?![\w/:-])"
    rf"(?: ?(?P<verdict>{re.escape(VERIFIED)}|{re.escape(UNVERIFIED)}))?"
)
_MISSING_FILE = re.compile(rf"(?:`([^`]+)`|(\S+)) ?{re.escape(Trace.MISSING.value)}")
_NOUNS = {CONSTRAINTS: "constraint"}
_FORGED = re.compile(rf"[ \t]*[{YES}{NO}✔✘☑☒✅❌]")


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A document with a sign after each checked claim, and the number of claims per result."""

    body: str
    known: int
    """Number of commits named in the document that git has."""
    unknown: int
    """Number of commits named in the document that git does not have."""
    changed: int = 0
    """Number of named files that git shows as changed."""
    unchanged: int = 0
    """Number of named files that exist unchanged."""
    missing: int = 0
    """Number of named files that do not exist."""
    first_missing: str = ""
    """The name of the first missing file; empty if no file is missing, or if the document marks a
    file as missing without naming the file before the mark."""
    unchecked: int = 0
    """Number of check results in lines that the user has edited since the check."""
    dropped: tuple[tuple[str, str], ...] = ()
    """For each decision and constraint that the writer left out and cockpit added back: the section
    of the document, and the last session whose document contained the point."""

    @property
    def not_found(self) -> str:
        """The claims that cockpit did not find, in words without signs; empty without such claims.

        Such as `1 commit unknown to git, 2 files not found: src/a.py, …`.
        """
        return self._not_found("")

    @property
    def problems(self) -> str:
        """The problems of the document, in words; empty if no problem is known."""
        wrong = self._not_found(f"{NO} ")
        lost = ", ".join(
            f"{counted(many, _NOUNS.get(section, 'decision'))} dropped since {place}"
            for (section, place), many in Counter(self.dropped).items()
        )
        # "added back" comes first: "dropped" alone reads as if the new session lacked the points.
        return ", ".join(filter(None, (wrong, lost and f"{NO} added back: {lost}")))

    @property
    def others(self) -> str:
        """The counts of the claims without a known problem, in words; empty without such claims."""
        return _in_words(
            (f"{MAYBE} {{}} not checked since your edit", self.unchecked, "claim"),
            (f"{MAYBE} {{}} unchanged", self.unchanged, "file"),
            (f"{YES} {{}}", self.known, "commit"),
            (f"{YES} {{}} changed", self.changed, "file"),
        )

    def _not_found(self, sign: str) -> str:
        wrong = _in_words(
            (f"{sign}{{}} unknown to git", self.unknown, "commit"),
            (f"{sign}{{}} not found", self.missing, "file"),
        )
        if self.first_missing:
            wrong += f": {self.first_missing}" + (", …" if self.missing > 1 else "")
        return wrong

    def __str__(self) -> str:
        """Return the counts in words, problems first; empty if nothing was checked."""
        return ", ".join(filter(None, (self.problems, self.others)))


def _in_words(*counts: tuple[str, int, str]) -> str:
    return ", ".join(form.format(counted(many, what)) for form, many, what in counts if many)


def check_claims(body: str, before_edit: str | None = None) -> CheckedDocument:
    """Return the document with a sign after each checked commit and file, and the counts.

    Signs that the agent itself wrote in lines with such claims are removed first. Code blocks are
    not changed. Without verified facts, returns the document unchanged, with counts of 0.
    `before_edit` is the text that cockpit checked, if the user has edited the text since. Results
    in edited lines are shown as not checked; cockpit checks the text again after the approval.
    """
    checked = None if before_edit is None else frozenset(before_edit.split("\n"))
    unchecked = 0
    claims, heading, facts = body.rpartition(FACTS)
    if not heading:
        return CheckedDocument(body, 0, 0)
    without = (UNVERIFIED, NOT_CHECKED)
    listed = [line for line in facts.splitlines() if not any(mark in line for mark in without)]
    has = claimed_commits("\n".join(listed))
    known: set[str] = set()
    unknown: set[str] = set()
    traces: Counter[Trace] = Counter()
    missing_files: list[str] = []

    def judged(line: str) -> str:
        named = set(claimed_commits(line))

        def sign(match: re.Match[str]) -> str:
            commit, verdict = match[1], match["verdict"]
            if commit not in named:
                return match[0]
            bare = match[0].removesuffix(verdict or "").rstrip()
            if verdict == UNVERIFIED:
                unknown.add(commit)
                return f"{bare} {_UNKNOWN}"
            if verdict or any(
                existing.startswith(commit) or commit.startswith(existing) for existing in has
            ):
                known.add(commit)
                return f"{bare} {YES}"
            return match[0]

        marked = any(trace.value in line for trace in Trace)
        line = _HASH.sub(sign, _FORGED.sub("", line) if named or marked else line)
        missing_files.extend(quoted or bare for quoted, bare in _MISSING_FILE.findall(line))
        for trace, shown in _SIGNS.items():
            traces[trace] += line.count(trace.value)
            line = line.replace(trace.value, shown)
        return line

    def shown(line: str) -> str:
        nonlocal unchecked
        if checked is not None and line not in checked:
            line, stale = _STALE.subn(_UNCHECKED, line)
            unchecked += stale
        return chain_memory.marked(judged(line), NO)

    lines = [line if is_code else shown(line) for line, is_code in marked_lines(claims)]
    return CheckedDocument(
        "\n".join(lines) + heading + facts,
        known=len(known),
        unknown=len(unknown),
        changed=traces[Trace.CHANGED],
        unchanged=traces[Trace.UNCHANGED],
        missing=traces[Trace.MISSING],
        first_missing=safe_line(missing_files[0], LONGEST_NAME) if missing_files else "",
        unchecked=unchecked,
        dropped=tuple(chain_memory.dropped_in(claims)),
    )

"""The memory of a chain: the decisions and constraints that its documents state and do not revoke.

Documents are processed from the oldest to the newest. A statement holds until a later document
revokes it explicitly: with a line that begins with `Revoked:`, or by striking the statement out. If
a document only leaves a statement out, cockpit adds the statement to that document.

cockpit adds a statement to the section that contained it, one of `SECTIONS`, because the new
session looks for decisions there. `Verified Facts` would be the wrong section: cockpit has verified
that an earlier document contains the statement, not that the statement is right. A new required
section would make every earlier document incomplete. The added lines have a fixed ending, by which
cockpit recognises them in later documents, in the review, and when it renews the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.document import CONSTRAINTS, NOTHING, OTHER_NOTES, Document, says_nothing
from cockpit.core.markdown import heading, marked_lines, one_line
from cockpit.core.statements import LONGEST, Section, names, says, statements

DECISIONS = "Key Decisions"
SECTIONS = (CONSTRAINTS, DECISIONS)
"""The sections whose statements hold over a whole chain."""

CARRIED = "### From Earlier Sessions"
"""The heading above the statements that cockpit adds to a section."""
WHY_CARRIED = (
    "The document of this session left these out; cockpit added them. Each holds until a document "
    "has a line that begins with `Revoked:` and repeats it."
)
MOST_CARRIED = 100
"""Maximum statements that cockpit adds to one section."""

_LABEL = re.compile(
    r" \(dropped since (?:session (?P<number>\d{1,6})(?: of (?P<agent>[\w.-]{1,80}))?"
    r"|an earlier session); added by cockpit\)\s*$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A session of a chain, as the place where a statement was made or revoked."""

    number: int = 0
    """Position of the session in its job, from 1; 0 if unknown."""
    agent: str = ""
    """Name of the session's agent, for a session of an earlier job that the current job continues;
    empty for a session of the current job."""

    def of(self, agent: str) -> Place:
        """Return this place for use in a job that continues the job of `agent`."""
        return replace(self, agent=self.agent or agent)

    def __str__(self) -> str:
        if not self.number:
            return "an earlier session"
        return f"session {self.number}" + (f" of {self.agent}" if self.agent else "")


@dataclass(frozen=True, slots=True)
class Statement:
    """A decision or constraint that a document of the chain states."""

    section: str
    """The statement's section, one of `SECTIONS`."""
    text: str
    """The statement's wording in the latest document that has it."""
    since: Place
    """The session whose document first had the statement."""
    last: Place
    """The session whose document last had the statement."""

    @property
    def label(self) -> str:
        """The mark after a statement that cockpit added to a document."""
        return f" (dropped since {self.last}; added by cockpit)"


@dataclass(frozen=True, slots=True)
class Revoked:
    """A statement that a later document revoked."""

    statement: Statement
    by: Place
    """The session whose document revoked the statement."""


@dataclass(frozen=True, slots=True)
class ChainMemory:
    """The statements of all documents of a chain."""

    standing: tuple[Statement, ...] = ()
    """The statements that hold, in the order in which documents first stated them."""
    revoked: tuple[Revoked, ...] = ()

    def of(self, section: str) -> tuple[Statement, ...]:
        return tuple(statement for statement in self.standing if statement.section == section)


@dataclass(slots=True)
class _Folding:
    standing: list[Statement] = field(default_factory=list)
    revoked: list[Revoked] = field(default_factory=list)

    def take(self, place: Place, document: Document) -> None:
        for section, body in _bodies(document):
            # The user may have struck out a line that cockpit added.
            self._revoke(place, statements(as_own(body)).revoked)
            for statement in _added_statements(section, body):
                if not any(says(known.text, statement.text) for known in self.standing):
                    self.standing.append(statement)
        for section, body in _bodies(document):
            for text in statements(_own(body)).stated:
                self._state(Statement(section, text, place, place))

    def _revoke(self, place: Place, texts: Iterable[str]) -> None:
        for text in texts:
            revoked = names(text, [statement.text for statement in self.standing])
            if revoked is not None:
                self.revoked.append(Revoked(self.standing.pop(revoked), place))

    def _state(self, new: Statement) -> None:
        for at, known in enumerate(self.standing):
            if says(new.text, known.text):
                self.standing[at] = replace(known, text=new.text, last=new.last)
                return
        self.standing.append(new)


def fold(documents: Iterable[tuple[Place, Document]]) -> ChainMemory:
    """Build the memory of a chain from the chain's documents; `documents` begins with the
    oldest."""
    folding = _Folding()
    for place, document in documents:
        folding.take(place, document)
    return ChainMemory(tuple(folding.standing), tuple(folding.revoked))


def dropped(memory: ChainMemory, document: Document) -> tuple[Statement, ...]:
    """Return the statements of a chain that its next document neither repeats nor revokes."""
    after = _Folding(list(memory.standing))
    own = [(title, statements(_own(body))) for title, body in _bodies(document)]
    for _, section in own:
        after._revoke(Place(), section.revoked)
    stated = [text for _, section in own for text in section.stated]
    return tuple(
        statement
        for statement in after.standing
        if not any(says(text, statement.text) for text in stated)
    )


def with_dropped(body: str, missing: Sequence[Statement]) -> str:
    """Return a section's body followed by the statements that the document left out, with labels.

    Adds at most `MOST_CARRIED` statements; if there are more, a last line counts the rest.
    """
    own = "" if says_nothing(body) else body
    shown = [
        f"- {_listed(statement.text)}{statement.label}" for statement in missing[:MOST_CARRIED]
    ]
    if len(missing) > MOST_CARRIED:
        shown.append(f"- … and {len(missing) - MOST_CARRIED} more, in the earlier documents")
    added = "\n\n".join([CARRIED, WHY_CARRIED, "\n".join(shown)]) if shown else ""
    return "\n\n".join(part for part in (own, added) if part) or NOTHING


def as_own(text: str) -> str:
    """Return a draft without the labels, heading and note of the statements that cockpit added.

    The statements then count as the writer's own.
    """
    if CARRIED not in text and "added by cockpit)" not in text:
        return text
    kept = [line for line in text.split("\n") if line.strip() not in (CARRIED, WHY_CARRIED)]
    return "\n".join(_LABEL.sub("", line) for line in kept)


def dropped_in(text: str) -> list[tuple[str, str]]:
    """Return the section and session of each statement that cockpit added to a document.

    The session is the one whose document last had the statement.
    """
    labels: list[tuple[str, str]] = []
    section = ""
    for line, is_code in marked_lines(text):
        title, label = heading(line), _LABEL.search(line)
        if is_code:
            continue
        if title is not None and title[0] == 2:
            section = title[1]
        elif label is not None:
            labels.append((section, str(_place(label))))
    return labels


def marked(line: str, mark: str) -> str:
    """Replace cockpit's label in a line with `mark` and the session that the label names."""
    return _LABEL.sub(lambda match: f" {mark} dropped since {_place(match)}, added back", line)


def _listed(text: str) -> str:
    """Return a statement as one list line that cannot open a code block or HTML."""
    line = re.sub("`{3,}|~{3,}", "`", one_line(text, LONGEST))
    return f"&lt;{line[1:]}" if line.startswith("<") else line


def _place(match: re.Match[str]) -> Place:
    return Place(int(match["number"] or 0), match["agent"] or "")


def _bodies(document: Document) -> Iterator[tuple[str, str]]:
    """Yield title and body of each section in `SECTIONS`, including sections in the other notes."""
    for section in SECTIONS:
        for title, body in (*document.sections.items(), *document.others.items()):
            if title.casefold() == section.casefold():
                yield section, body
            elif title == OTHER_NOTES:
                yield section, _part(body, section)


def _part(body: str, title: str) -> str:
    """Return the text below the `###` heading with this title; empty without this heading."""
    kept: list[str] = []
    inside = False
    for line, is_code in marked_lines(body):
        parsed = None if is_code else heading(line)
        if parsed is not None and parsed[0] <= 3:
            inside = parsed[1].casefold() == title.casefold()
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def _own(body: str) -> str:
    """Return a section's body without the labelled statements and the note that cockpit added."""
    kept = (line for line in body.split("\n") if _LABEL.search(line) is None)
    return "\n".join(line for line in kept if line.strip() != WHY_CARRIED)


def _added_statements(section: str, body: str) -> Iterator[Statement]:
    """Yield the statements that cockpit added to a section."""
    for line, is_code in marked_lines(body):
        match = None if is_code else _LABEL.search(line)
        if match is not None:
            stated: Section = statements(line[: match.start()])
            place = _place(match)
            for text in stated.stated:
                yield Statement(section, text, place, place)

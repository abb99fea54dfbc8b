"""Read and validate handoff documents.

Reading never fails: any text is a document, perhaps with sections missing. `core.composition`
builds documents, and `adapters.documents` stores them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from cockpit.core import front_matter
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.front_matter import FrontMatter
from cockpit.core.markdown import (
    has_controls,
    heading,
    marked_lines,
    open_fence,
    plain,
    unfenced,
)

TITLE = "Handoff"
SECTIONS = (
    "Goal",
    "Current Task",
    "Constraints from the user",
    "Progress",
    "Current State",
    "Next Steps",
    "Key Decisions",
    "What Did Not Work",
    "Open Issues",
    "Background Work",
    "Verified Facts",
    "Links",
    "Instructions for the Successor",
)
"""The titles of all sections of a document, in the order in which the document has them."""
CONSTRAINTS = "Constraints from the user"
"""The section with the user's standing orders and refusals."""
ASKED = ("Current Task", *SECTIONS[3:10])
"""The sections that cockpit asks the agent to write. The agent may write other sections too."""
REQUIRED = ASKED[:-1]
"""The sections that a draft must have, because only the draft's writer can write them."""
OPTIONAL = frozenset({CONSTRAINTS})
"""Sections that a whole document can lack, because templates of earlier versions lack them."""
PROGRESS = ("Completed", "In Progress", "Pending")
OTHER_NOTES = "Other Notes"
"""The section for text under headings that are not in `SECTIONS`."""
NOTHING = "None."

OURS = ("Goal", "Verified Facts")
"""The sections that cockpit writes. A draft's sections with these titles are discarded, except
`Goal` if the goal is not known otherwise."""

LARGEST = 256 * 1024
"""Maximum bytes of a document."""
LARGEST_DRAFT = 128 * 1024
"""Maximum bytes of a draft's sections together, not counting the sections in `OURS`."""
SMALLEST_DRAFT = 200
"""Minimum characters of all sections in `ASKED` together."""

_ALIASES = {
    "constraints": CONSTRAINTS,
    "user constraints": CONSTRAINTS,
    "original goal": "Goal",
    "decisions": "Key Decisions",
    "next step": "Next Steps",
    "dead ends": "What Did Not Work",
    "what didn't work": "What Did Not Work",
    "failed approaches": "What Did Not Work",
    "open questions": "Open Issues",
    "open questions and blockers": "Open Issues",
    "blockers": "Open Issues",
    "instructions for new instance": "Instructions for the Successor",
}
_KNOWN = {title.casefold(): title for title in SECTIONS} | _ALIASES
_WRAPPING = re.compile(r"(?:`{3,}|~{3,})(?:markdown|md)?\n(?:---\n|#)", re.IGNORECASE)
_NUMBERED = re.compile(r"\d{1,3}[.)][ \t]+")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+")
_SPAN = re.compile(r"`[^`\n]+`")
_EMPTY = re.compile(r"[\s*_`>-]*(?:none(?: known| stated)?|nothing|n/?a)?[\s*_`.]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """One error in a document."""

    kind: str
    """`empty`, `too-long`, `control-bytes`, `open-fence`, `missing`, `says-nothing`,
    `too-short` or `not-runnable`."""
    text: str
    """A sentence that tells the writer what to correct."""
    mends: bool = False
    """Whether `composition.compose` corrects this problem; then the writer is not asked again."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed handoff document."""

    sections: Mapping[str, str] = field(default_factory=dict)
    """Maps title to body, in the order of `SECTIONS`; missing sections are left out."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Maps title to body, for sections that are not in `SECTIONS`."""
    opening: str = ""
    """The text above the first section."""
    front: FrontMatter | None = None
    """The front matter; None if there is none. Trustworthy only in a file that cockpit wrote."""

    @property
    def goal(self) -> str | None:
        """The original request, without its fence; None if the document has none."""
        body = self.sections.get("Goal", "")
        quoted = _first_fence(body)
        if quoted is not None:
            return quoted
        return None if says_nothing(body) else body

    @property
    def first_step(self) -> str | None:
        """The first of the next steps, without its list marker; None if there is none."""
        return first_step(self.sections.get("Next Steps", ""))


def read(text: str) -> Document:
    """Read any text as a document.

    Sections with the same title are joined; the case of titles does not matter. Front matter is
    read only at the very start. A document that is one code block, as a model's reply often is, is
    unwrapped first.
    """
    front, body = front_matter.load(_unwrapped(plain(text)))
    opening: list[str] = []
    lines_of: dict[str, list[str]] = {}
    current = opening
    for line, is_code in marked_lines(body):
        title = None if is_code else _title(line)
        if title == TITLE:
            continue
        if title is None:
            current.append(line)
        else:
            current = lines_of.setdefault(title, [])
            if current:
                current.append("")
    bodies = {title: "\n".join(lines).strip("\n") for title, lines in lines_of.items()}
    return Document(
        {title: bodies[title] for title in SECTIONS if title in bodies},
        {title: body for title, body in bodies.items() if title not in SECTIONS},
        "\n".join(opening).strip("\n"),
        front,
    )


def validate(text: str, *, complete: bool = False) -> list[Problem]:
    """List the problems of a draft or, with `complete`, of a whole document.

    A draft needs the sections in `REQUIRED`; a whole document needs front matter and every section
    that is not in `OPTIONAL`. Both can have at most `LARGEST` bytes. The writer's own sections in a
    draft are limited to `LARGEST_DRAFT`, to leave room for the request.
    """
    if not text.strip():
        return [Problem("empty", "The document is empty.")]
    if _size(text) > LARGEST:
        return [_too_long(_size(text), LARGEST)]
    document = read(text)
    problems = _problems_of_form(text)
    own = sum(_size(body) for title, body in document.sections.items() if title not in OURS)
    if own > LARGEST_DRAFT and not complete:
        problems.append(_too_long(own, LARGEST_DRAFT, "The text of the writer's sections"))
    for title in SECTIONS if complete else REQUIRED:
        if title not in document.sections and title not in OPTIONAL:
            problems.append(Problem("missing", f"The section `## {title}` is missing."))
    if complete and document.front is None:
        problems.append(Problem("missing", "The front matter is missing."))
    return problems + _problems_of_content(document)


def says_nothing(body: str) -> bool:
    """Return whether a section is empty, or has only `None.`, `n/a` or the like."""
    return _EMPTY.fullmatch(body[:100]) is not None and len(body) <= 100


def first_step(body: str) -> str | None:
    """Return the first list item of a body, or its first paragraph, with the code block after it.

    None if the body says nothing.
    """
    lines = list(marked_lines(body.strip("\n")))
    starts = [at for at, (line, is_code) in enumerate(lines) if not is_code and _ITEM.match(line)]
    if says_nothing(body):
        return None
    if starts:
        end = starts[1] if len(starts) > 1 else len(lines)
        item = [line for line, _ in lines[starts[0] : end]]
        item[0] = _ITEM.sub("", item[0], count=1)
        return "\n".join(item).strip() or None
    return _first_paragraph(lines)


def is_runnable(step: str) -> bool:
    """Return whether a step has a command: a code span, a code block, or a line after `$`."""
    return (
        _SPAN.search(step) is not None
        or any(is_code for _, is_code in marked_lines(step))
        or any(line.lstrip().startswith("$ ") for line in step.split("\n"))
    )


def _unwrapped(text: str) -> str:
    bare = text.strip()
    if not _WRAPPING.match(bare):
        return text
    inner = unfenced(bare)
    return text if inner is None else inner


def _title(line: str) -> str | None:
    parsed = heading(line)
    if parsed is None or parsed[0] > 2:
        return None
    level, text = parsed
    bare = _NUMBERED.sub("", text.strip("*_` \t"), count=1).rstrip(": \t").rstrip("*_`")
    key = " ".join(bare.casefold().split())
    if key in _KNOWN:
        return _KNOWN[key]
    if key.startswith("verified facts"):
        return "Verified Facts"
    if level == 1:
        return TITLE if key.startswith(TITLE.casefold()) else None
    return text[:200]


def _first_fence(body: str) -> str | None:
    block: list[str] = []
    for line, is_code in marked_lines(body):
        if is_code:
            block.append(line)
            if len(block) > 1 and unfenced("\n".join((block[0], line))) is not None:
                return unfenced("\n".join(block))
    return None


def _first_paragraph(lines: list[tuple[str, bool]]) -> str | None:
    kept: list[str] = []
    for at, (line, is_code) in enumerate(lines):
        if not is_code and not line.strip():
            follows = at + 1 < len(lines) and lines[at + 1][1]
            if kept and not (follows and not any(code for _, code in lines[:at])):
                break
        kept.append(line)
    return "\n".join(kept).strip() or None


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def above_limit(size: int, limit: int) -> str:
    """Return text such as `257 KiB; the limit is 256 KiB.` for two numbers of bytes. `size` is
    rounded up, so that the text shows a larger number than the limit."""
    return f"{-(-size // 1024)} KiB; the limit is {limit // 1024} KiB."


def _too_long(size: int, limit: int, subject: str = "The document") -> Problem:
    return Problem("too-long", f"{subject} has {above_limit(size, limit)}")


def _problems_of_form(text: str) -> list[Problem]:
    problems = []
    if has_controls(text):
        message = "The document has control characters; only newlines and tabs are allowed."
        problems.append(Problem("control-bytes", message, mends=True))
    fence = open_fence(_unwrapped(plain(text)))
    if fence:
        message = f"The code block that begins with {fence} has no end; close it."
        problems.append(Problem("open-fence", message))
    return problems


def _problems_of_content(document: Document) -> list[Problem]:
    problems = []
    for title in ("Current Task", "Next Steps"):
        body = document.sections.get(title)
        if body is not None and says_nothing(body):
            text = f"The section `## {title}` is empty; the new session cannot continue without it."
            problems.append(Problem("says-nothing", text))
    if sum(len(document.sections.get(title, "")) for title in ASKED) < SMALLEST_DRAFT:
        text = f"The requested sections together have fewer than {SMALLEST_DRAFT} characters."
        problems.append(Problem("too-short", text))
    step = document.first_step
    if step is not None and not is_runnable(step):
        text = "The first of the Next Steps has no command; put one in backticks."
        problems.append(Problem("not-runnable", text, mends=True))
    return problems

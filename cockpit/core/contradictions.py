"""Find statements of a document that the record's last check of the same kind contradicts.

Cautious: only a line that names tests, lint or build and says that they pass is compared, and only
with a check that certainly failed. A line with a negation, a
condition or a plan says nothing certain and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cockpit.core.document import Document
from cockpit.core.facts import Check
from cockpit.core.markdown import one_line

_SUBJECT = {
    "test": r"(?:tests?|test suite|pytest|suite)",
    "lint": r"(?:lint(?:er|ing)?|type ?checks?|ruff|mypy|eslint)",
    "build": r"build",
}
_PASSES = r"(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|clean)"
_UNCERTAIN = re.compile(
    r"\b(?:not|never|no|until|when|once|if|should|must|will|before|after|except|fail\w*|red|broken"
    r"|make|ensure|verify|check that|todo|next|earlier|were|was|had|some|most|only)\b"
    r"|n['’]t\b|\?|\[ \]",
    re.IGNORECASE,
)
_OWN = frozenset({"Goal", "Verified Facts", "Next Steps"})
"""Sections that the user or cockpit wrote, or that say what is to be done."""


def contradictions(document: Document, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return each contradiction in one line, with both sides."""
    lines = [
        line.strip()
        for title, body in document.sections.items()
        if title not in _OWN
        for line in body.split("\n")
    ]
    return tuple(found for check in checks for found in _against(check, lines))


def _against(check: Check, lines: Sequence[str]) -> Iterator[str]:
    if check.failed is not True:
        return
    said = re.compile(rf"\b{_SUBJECT[check.kind]}\b[^,;:]{{0,30}}\b{_PASSES}\b", re.IGNORECASE)
    for line in lines:
        if said.search(line) and not _UNCERTAIN.search(line):
            result = f', "{one_line(check.result, 100)}"' if check.result else ""
            yield (
                f'the document says "{one_line(line, 200)}", but the last {check.kind} command of '
                f"the transcript failed{result} (turn {check.turn})"
            )
            return

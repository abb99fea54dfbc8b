"""Find private keys in PEM blocks: whole, cut off at one end, or with a prefix on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cockpit.core.deferred_pattern import deferred_pattern

_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{3,5}"
_BREAK = r"(?:\\+[rn]|[\s\"'`+,>|│#;*/<(){}\[\]-]|[0-9]{1,6}(?=[→\t:])|[→\t:]|\\+[\"'])"
"""Text between two lines of a key: line ends, quotes, line numbers, signs of a diff."""
_LINE = (
    r"(?:[A-Za-z-]{1,40}: [^\n\\]{0,100}|[A-Za-z0-9+/=]{24,100}(?![A-Za-z0-9+/=])"
    rf"|[A-Za-z0-9+/=]{{1,23}}(?={_BREAK}{{1,40}}-----END))"
)
_FROM_BEGIN = deferred_pattern(
    rf"-{{3,5}}BEGIN {_LABEL}(?:{_BREAK}{{1,40}}{_LINE})*"
    rf"(?:{_BREAK}{{0,40}}?-----END[A-Z0-9 ]{{0,60}}-{{0,5}})?"
)
_END = deferred_pattern(rf"-----END {_LABEL}")
LONGEST_KEY = 20_000
_KEY_LINE = deferred_pattern(r"[A-Za-z0-9+/=]{16,100}")


def key_blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each private key in a text."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    every = [*_FROM_BEGIN.finditer(text), *_END.finditer(text)]
    for match in sorted(every, key=lambda match: match.start()):
        begin, end = match.span()
        if end <= done:
            continue
        if match[0].startswith("-----END"):
            begin = _start_of_key(text, max(done, begin - LONGEST_KEY), begin)
        done = end
        if begin < match.start() or "BEGIN" in match[0]:
            yield begin, end, "private-key"


def _start_of_key(text: str, floor: int, end: int) -> int:
    """Return the start of a key whose first line is missing: its first base64 line.

    Returns `end` if there is no base64 line before `end`.
    """
    begin = end
    piece = text[floor:end]
    for match in reversed(list(_KEY_LINE.finditer(piece))):
        between = piece[match.end() : begin - floor]
        if len(between) > 48 or re.search(r"[A-Za-z0-9]{8}", between.replace("-----END", "")):
            break
        begin = floor + match.start()
    return begin

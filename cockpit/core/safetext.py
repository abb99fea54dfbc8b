"""Make untrusted text safe to show in a terminal.

Names, branches, pane contents, documents and transcripts pass through here before they are shown.
Removes whole escape sequences, and characters that move the cursor, change the direction of writing
or are invisible. A lone surrogate becomes U+FFFD. Limits the length. Does not escape markup.
"""

from __future__ import annotations

import re

REPLACEMENT = "�"
ELLIPSIS = "…"

_ESCAPES = re.compile(
    # CSI: parameters, intermediates, final byte. Without a final byte, ends at the next byte.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # OSC, DCS, SOS, PM, APC: up to BEL or either form of ST, but never past the end of the line,
    # so that an unfinished sequence cannot hide the rest of a document.
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    # Other escapes: intermediates and one final byte.
    r"|\x1b[ -/]*[0-~]?"
)

_HIDDEN = (
    "\xad"  # soft hyphen
    "\u034f\u061c\u115f\u1160\u17b4\u17b5"  # joiners, letter mark, fillers
    "\u180b-\u180f"  # Mongolian selectors
    "\u200b-\u200f"  # zero width, direction marks
    "\u2028-\u202e"  # line and paragraph separators, embeddings and overrides
    "\u2060-\u206f"  # invisible operators, isolates, deprecated controls
    "\u3164\ufe00-\ufe0e\ufeff\uffa0"  # fillers, text selectors, byte order mark
    "\ufff9-\ufffb"  # interlinear annotation
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical controls
    "\U000e0000-\U000e0fff"  # tags and further selectors
)
_REMOVED_FROM_TEXT = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_HIDDEN}]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BREAKS = re.compile("[\t\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]+")
_SUSPECT = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff{_HIDDEN}]")


def safe_line(text: str, limit: int = 200) -> str:
    """Return one safe line of at most `limit` characters; line breaks and tabs become a space.

    A shortened line ends in an ellipsis. Idempotent.
    """
    if _SUSPECT.search(text):
        text = without_controls(_BREAKS.sub(" ", without_escapes(text)))
    return _shortened(text, limit)


def quoted(text: str, limit: int = 200) -> str:
    """Return an untrusted word in quotes, for a message about the word; escaped if showing the word
    is not safe."""
    shown = _shortened(text, limit)
    return repr(shown) if safe_line(shown, limit) == shown else ascii(shown)


def safe_text(text: str, limit: int = 262_144) -> str:
    """Return safe text of several lines. Tabs stay; every line end becomes a newline. Idempotent.

    Text of more than `limit` characters is cut, and ends in an ellipsis.
    """
    if _SUSPECT.search(text):
        text = without_escapes(text)
        text = without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _shortened(text, limit)


def typeable(text: str) -> str:
    """Return the text, safe to paste into a pane: no escape sequences, and no controls except
    newline and tab.

    Joined emoji and right-to-left text stay as they are, because the text goes to a program.
    """
    if not _SUSPECT.search(text):
        return text
    text = without_escapes(text).replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub(REPLACEMENT, _CONTROLS.sub("", text))


def without_controls(text: str) -> str:
    """Return the text without controls and invisible characters, except newline and tab.

    The text must have no escape sequences.
    """
    if not _SUSPECT.search(text):
        return text
    return _SURROGATES.sub(REPLACEMENT, _REMOVED_FROM_TEXT.sub("", text))


def without_escapes(text: str) -> str:
    """Return the text without escape sequences and ESC; other controls stay."""
    return _ESCAPES.sub("", text)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[: max(0, limit - 1)] + ELLIPSIS if limit > 0 else ""


_IN_WORDS = "".join(map(chr, range(0x21, 0x7F)))


def cut_at_word(text: str, limit: int) -> str:
    """Return the text, or the whole words of its first `limit` characters.

    A word that would be cut is dropped, because half of a secret cannot be recognised. A letter
    beyond ASCII ends a word, because many scripts have no spaces.
    """
    if len(text) <= limit:
        return text
    kept = text[:limit]
    return (kept.rstrip(_IN_WORDS) if text[limit] in _IN_WORDS else kept).rstrip()

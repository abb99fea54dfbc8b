"""Making foreign text harmless to a terminal and to an eye.

Names, branches, pane contents, documents and transcripts pass through here before they are shown
or stored. Escape sequences go whole, with what they carry; what else could move the cursor, turn
the direction of writing or hide is removed; a broken character becomes one visible mark. Shortens
too, because a line that never ends is also an attack. Escapes no markup: nobody here parses it.
"""

from __future__ import annotations

import re

REPLACEMENT = "�"
ELLIPSIS = "…"

_ESCAPES = re.compile(
    # CSI: parameters, intermediates, final byte; one left open ends where it stops making sense.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # OSC, DCS, SOS, PM, APC: up to BEL or ST in either form, but never past the line's end, so
    # that one that was left open cannot hide the rest of a document.
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
    """One line that can be shown anywhere: breaks and tabs become a space, at most `limit` long.

    A shortened line ends in an ellipsis. Total, and twice is the same as once.
    """
    if _SUSPECT.search(text):
        text = without_controls(_BREAKS.sub(" ", without_escapes(text)))
    return _shortened(text, limit)


def quoted(text: str, limit: int = 200) -> str:
    """A foreign word in quotes, for a sentence about it: readable, or escaped where it is not."""
    shown = _shortened(text, limit)
    return repr(shown) if safe_line(shown, limit) == shown else ascii(shown)


def safe_text(text: str, limit: int = 262_144) -> str:
    """Lines that can be shown anywhere; newlines and tabs stay, every line end becomes a newline.

    At most `limit` characters, the last an ellipsis if something was cut. Total, and twice is the
    same as once.
    """
    if _SUSPECT.search(text):
        text = without_escapes(text)
        text = without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _shortened(text, limit)


def typeable(text: str) -> str:
    """What may be pasted into a pane: no escape sequence, no control but newline and tab.

    Joined emoji and text from right to left stay as they are, because here they are somebody's
    words on their way to a program, not something that is shown.
    """
    if not _SUSPECT.search(text):
        return text
    text = without_escapes(text).replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub(REPLACEMENT, _CONTROLS.sub("", text))


def without_controls(text: str) -> str:
    """What may be shown of text whose escape sequences have been dealt with already."""
    if not _SUSPECT.search(text):
        return text
    return _SURROGATES.sub(REPLACEMENT, _REMOVED_FROM_TEXT.sub("", text))


def without_escapes(text: str) -> str:
    """The text without any escape sequence; no ESC is left of it, other controls may be."""
    return _ESCAPES.sub("", text)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[: max(0, limit - 1)] + ELLIPSIS if limit > 0 else ""


_IN_WORDS = "".join(map(chr, range(0x21, 0x7F)))


def cut_at_word(text: str, limit: int) -> str:
    """The text as it is, or the whole words of its first `limit` characters.

    A word that would be cut is dropped: half of a secret is not recognised as one. Letters beyond
    ASCII end a word, since many scripts have no spaces.
    """
    if len(text) <= limit:
        return text
    kept = text[:limit]
    return (kept.rstrip(_IN_WORDS) if text[limit] in _IN_WORDS else kept).rstrip()

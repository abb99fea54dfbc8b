"""Check paths from CLIs' status files and transcripts, because any process can write these
files."""

from __future__ import annotations

import os

LONGEST_PATH = 4096


def is_absolute(text: str) -> bool:
    """Return whether the text can be the absolute path of a file."""
    # When cockpit read the file, a lone surrogate became U+FFFD.
    if not text.startswith("/") or {"\0", "\ufffd"} & {*text} or len(text) > LONGEST_PATH:
        return False
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True

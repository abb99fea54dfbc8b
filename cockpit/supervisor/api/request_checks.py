"""What every request must be before a handler sees it: text that paths, names and rows can hold.

A NUL, half a surrogate pair or a path of a thousand characters makes some call deep below raise; it
is the asker's mistake all the same, and answered as one.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from cockpit.core.errors import BadUsage

LONGEST_ADDRESS = 16_384
"""Bytes of path and query together."""
_OF_A_PATH = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EINVAL, errno.EILSEQ}


def check_address(path: bytes, query: bytes) -> None:
    """Refuse a path or a query that is not text. Raises `BadUsage`."""
    if len(path) + len(query) > LONGEST_ADDRESS:
        raise BadUsage(
            "The address of the request is too long", f"{LONGEST_ADDRESS // 1024} KiB is the limit."
        )
    # What is searched for is no name and no path: any character may be in a document.
    asked = [part for part in query.split(b"&") if not part.startswith(b"search=")]
    for part in (path, *asked):
        try:
            _check_text(unquote_to_bytes(part).decode())
        except UnicodeDecodeError:
            raise BadUsage("The address of the request is not UTF-8") from None


def check_values(value: Any) -> None:
    """Refuse a body with text that nothing can hold; its depth is bounded by the reader's."""
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, Mapping):
        for key, held in value.items():
            _check_text(str(key))
            check_values(held)
    elif isinstance(value, list):
        for held in value:
            check_values(held)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise BadUsage("The request holds a NUL character", "No name and no path can have one.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadUsage("The request holds a lone surrogate", "It is no text.") from None


def as_bad_usage(error: Exception) -> BadUsage | None:
    """The refusal for an error that a path of the request has caused; None for any other."""
    if isinstance(error, OSError) and error.errno in _OF_A_PATH:
        return BadUsage("A path of the request cannot be used", error.strerror or str(error))
    return None

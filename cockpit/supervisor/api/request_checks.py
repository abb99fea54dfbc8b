"""Checks of every request before it is handled: all text must be usable in paths and names.

A NUL, a lone surrogate or a path that is too long would make a call below raise an unrelated error.
Here the client gets an error that says what is wrong.
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
    """Raise `BadUsage` if the path or the query is not text."""
    if len(path) + len(query) > LONGEST_ADDRESS:
        raise BadUsage(
            "The address of the request is too long", f"{LONGEST_ADDRESS // 1024} KiB is the limit."
        )
    # A search text may have any character: it is neither a name nor a path.
    asked = [part for part in query.split(b"&") if not part.startswith(b"search=")]
    for part in (path, *asked):
        try:
            _check_text(unquote_to_bytes(part).decode())
        except UnicodeDecodeError:
            raise BadUsage("The address of the request is not UTF-8") from None


def check_values(value: Any) -> None:
    """Raise `BadUsage` if a text in the body is unusable. The JSON reader limits the depth."""
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
        raise BadUsage("The request holds a lone surrogate", "It is not text.") from None


def as_bad_usage(error: Exception) -> BadUsage | None:
    """A `BadUsage` for an error that a path of the request caused; None for other errors."""
    if isinstance(error, OSError) and error.errno in _OF_A_PATH:
        return BadUsage("A path of the request cannot be used", error.strerror or str(error))
    return None

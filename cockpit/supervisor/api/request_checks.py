"""Checks of every request before it is handled: types, and characters in names and paths.

A NUL or a lone surrogate would raise an unrelated error in later code. The checks here raise an
error that describes the problem. `as_bad_usage` converts errors that later code raises for a path.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cockpit.core.errors import BadUsage
from cockpit.wire.status import Wire

LONGEST_ADDRESS = 16_384
"""Maximum bytes of path and query together."""
_OF_A_PATH = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EINVAL, errno.EILSEQ}
_AnyModel = TypeVar("_AnyModel", bound=Wire)
_WHOLE_NUMBER, _NUMBER, _TRUTH = "a whole number", "a number", "true or false"
_MUST_BE = {
    "string_type": "text",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": _WHOLE_NUMBER,
    "int_from_float": _WHOLE_NUMBER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "list_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
}


class InvalidRequest(BadUsage):
    """Raised for invalid values in a request."""

    def __init__(self, title: str, errors: Sequence[Mapping[str, str]]) -> None:
        """`errors` have the fields of `wire.verbs.InvalidValue`."""
        self.errors = errors
        super().__init__(title, "; ".join(map(_sentence, errors)) + ".")


def validated(
    kind: type[_AnyModel], content: Any, title: str, *, of_address: bool = False
) -> _AnyModel:
    """Parse a body, or a query if `of_address`. Raises `InvalidRequest`.

    The values of a query are text.
    """
    try:
        return kind.model_validate(content, strict=not of_address)
    except ValidationError as wrong:
        shown = wrong.errors(include_url=False, include_input=False)
        raise InvalidRequest(title, [_explained(error, of_address) for error in shown]) from None


def _sentence(error: Mapping[str, str]) -> str:
    place = error.get("parameter") or error["pointer"].removeprefix("#/")
    return f"{'The body' if place == '#' else place} {error['detail']}"


def _explained(error: ErrorDetails, of_address: bool) -> dict[str, str]:
    where = [str(part).replace("~", "~0").replace("/", "~1") for part in error["loc"]]
    place = {"parameter": where[0]} if of_address else {"pointer": "/".join(["#", *where])}
    if error["type"] == "missing":
        return {**place, "detail": "is missing"}
    must_be = _MUST_BE.get(error["type"])
    if must_be is None:
        return {**place, "detail": "is not valid"}
    return {**place, "detail": f"must be {must_be.format(**error.get('ctx', {}))}"}


def check_address(path: bytes, query: bytes) -> None:
    """Raise `BadUsage` if path and query together are too long, or are not valid text."""
    if len(path) + len(query) > LONGEST_ADDRESS:
        raise BadUsage(
            "The request URL is too long",
            f"The maximum is {LONGEST_ADDRESS // 1024} KiB.",
            hint="Shorten the query.",
        )
    # A search text may have any character, because it is used neither as a name nor as a path.
    asked = [part for part in query.split(b"&") if not part.startswith(b"search=")]
    for part in (path, *asked):
        try:
            _check_text(unquote_to_bytes(part).decode())
        except UnicodeDecodeError:
            raise BadUsage(
                "The request URL is not UTF-8",
                hint="Encode the URL as UTF-8, with percent-encoding.",
            ) from None


def check_values(value: Any) -> None:
    """Raise `BadUsage` if a string in the body is not valid text.

    Recursive: the JSON parser limits the depth.
    """
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
        raise BadUsage(
            "The request contains a NUL character",
            "No text in a request can contain a NUL.",
            hint="Remove the character.",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadUsage(
            "The request contains a lone surrogate", "It is not valid text.", hint="Send UTF-8."
        ) from None


def as_bad_usage(error: Exception) -> BadUsage | None:
    """Return a `BadUsage` for an error caused by a path in the request; else None."""
    if isinstance(error, OSError) and error.errno in _OF_A_PATH:
        return BadUsage(
            "Cannot use a path in the request",
            error.strerror or str(error),
            hint="Check the path and its permissions.",
        )
    return None

"""Read token counts from a CLI's records, which may differ from the expected form."""

from __future__ import annotations

from collections.abc import Mapping


class UnknownCountError(LookupError):
    """A reply's record has no valid input count, so the size of the context is unknown."""


def token_count(value: object) -> int:
    """Return `value` if it is a valid number of tokens; otherwise 0."""
    number = _valid(value)
    return 0 if number is None else number


def input_count(usage: Mapping[str, object], name: str) -> int:
    """Return the input tokens in the field `name`. Raises `UnknownCountError` if it is absent or
    invalid.

    With 0 instead, a full context would look almost empty, for example after the CLI has renamed
    the field.
    """
    number = _valid(usage.get(name))
    if number is None:
        raise UnknownCountError(name)
    return number


def _valid(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None

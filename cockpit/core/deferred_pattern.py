"""A regular expression that is compiled at its first use, not when its module is imported.

To compile one takes 0.1 to 30 ms. For patterns that read transcripts and hide secrets, that delayed the
first frame of the screen by a fifth.
"""

from __future__ import annotations

import re
from typing import Any, cast


def deferred_pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, as soon as one of its attributes is used.

    It is not an instance of `re.Pattern`: call its methods, and do not pass it to functions of `re`.
    """
    return cast("re.Pattern[str]", _DeferredPattern(expression, flags))


class _DeferredPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._expression, self._flags), name)
        # Stored, so that a method costs the same as the pattern's own from the second use on.
        setattr(self, name, value)
        return value

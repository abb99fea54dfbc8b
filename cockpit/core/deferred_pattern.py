"""A regular expression that is compiled at its first use, not when its module is imported.

Compiling takes between 0.1 and 30 ms. The patterns that find orders in prompts, results of checks
and secrets would delay the first frame of the screen, which needs none of them.
"""

from __future__ import annotations

import re
from typing import Any, cast


def deferred_pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return an object like `re.Pattern` whose expression is compiled at its first use.

    The object is not an instance of `re.Pattern`: call its methods, and do not pass the object to a
    function of `re`.
    """
    return cast("re.Pattern[str]", _DeferredPattern(expression, flags))


class _DeferredPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._expression, self._flags), name)
        # Stored, so that later uses of a method cost the same as with an ordinary pattern.
        setattr(self, name, value)
        return value

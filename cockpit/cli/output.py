"""Output of the command line: data on stdout, messages on stderr, an exit code for each outcome.

Uses no colour, so `NO_COLOR` has no effect. Standard library and `core` only, because the fast path
uses this module.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from typing import TypeVar

from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_text

INTERRUPTED = 130

Code = TypeVar("Code", int, int | None)


_CONTROL = re.compile("[\x7f-\x9f]")


def json_text(value: object, *, indent: int | None = 2) -> str:
    """Return JSON for stdout, on one line if `indent` is None.

    Escapes every control character, because `json` leaves those from U+007F to U+009F as they are,
    and some terminals interpret them.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say(text: str) -> None:
    """Print a message for the user on stderr, without control characters."""
    print(safe_text(text), file=sys.stderr)


def print_error(error: CockpitError) -> int:
    """Print an error with its detail and hint; return its exit code."""
    say(f"cockpit: {error.title}")
    for part in (error.detail, error.hint):
        for line in part.splitlines():
            say(f"  {line}")
    return error.exit_code


def run_guarded(call: Callable[[], Code]) -> Code | int:
    """Run a command; turn every expected error into an exit code instead of a traceback."""
    try:
        code = call()
        sys.stdout.flush()
    except CockpitError as error:
        return print_error(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe, as in `cockpit events | head`. Python flushes again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code

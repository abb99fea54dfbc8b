"""How the command line talks: data on stdout, speech on stderr, an exit code for each end.

Nothing here is coloured, so `NO_COLOR` has nothing to switch off. Standard library and `core`
only: the fast path comes through here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TypeVar

from cockpit.core.errors import CockpitError

INTERRUPTED = 130

Code = TypeVar("Code", int, int | None)


def say(text: str) -> None:
    """Tell the pilot something that is not data."""
    print(text, file=sys.stderr)


def complain(error: CockpitError) -> int:
    """Say what went wrong and what to do next; answers the exit code."""
    say(f"cockpit: {error.title}")
    for part in (error.detail, error.hint):
        for line in part.splitlines():
            say(f"  {line}")
    return error.exit_code


def guarded(call: Callable[[], Code]) -> Code | int:
    """Run a command; every end that is expected becomes an exit code instead of a traceback."""
    try:
        code = call()
        sys.stdout.flush()
    except CockpitError as error:
        return complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # `cockpit events | head`: whoever reads has had enough. Python flushes once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code

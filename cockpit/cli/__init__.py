"""The command line: one file a group of commands, which ask and print and decide nothing.

`main` tries the fast path first. Everything else is click's, and loads what it needs when it
needs it.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run one command and leave with its exit code."""
    from cockpit.cli.fast import run_fast
    from cockpit.cli.language import hear_what_was_said

    hear_what_was_said()
    code = run_fast(sys.argv[1:])
    if code is None:
        from cockpit.cli.commands import run

        code = run(sys.argv[1:])
    sys.exit(code)

"""The command line. Each group of commands has its own file.

Most commands send requests and print the answers; the supervisor decides. `main` tries the fast
path first, and imports click for all other commands. Data goes to stdout, messages to stderr.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run one command and exit with its exit code."""
    from cockpit.cli.coerced_locale import drop_coerced_locale
    from cockpit.cli.fast_path import run_fast

    drop_coerced_locale()
    code = run_fast(sys.argv[1:])
    if code is None:
        from cockpit.cli.commands import run

        code = run(sys.argv[1:])
    sys.exit(code)

"""The commands that must answer at once, recognised before anything heavy is imported.

Only the plainest spellings are taken here; every other one goes through click and comes to the
same functions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

COMPLETING = "_COCKPIT_COMPLETE"
"""Set by a shell that asks click what could stand next."""


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run `status`, `attach`, `dial-stdio`, or come back to a screen that is there already.

    None when the arguments are for the whole command line.
    """
    if COMPLETING in os.environ:
        return None
    from cockpit.cli.speech import guarded

    match list(arguments):
        case []:
            from cockpit.cli.screen import reattach

            return guarded(reattach)
        case ["status", *rest] if _plain(rest):
            from cockpit.cli.status import show

            names = [word for word in rest if word != "--json"]
            return guarded(lambda: show(names[0] if names else None, as_json="--json" in rest))
        case ["attach", name, *rest] if not name.startswith("-") and rest in ([], ["--aside"]):
            from cockpit.cli.attach import attach

            return guarded(lambda: attach(name, aside=bool(rest)))
        case ["dial-stdio"]:
            from cockpit.cli.dial import dial

            return guarded(dial)
        case _:
            return None


def _plain(words: Sequence[str]) -> bool:
    """At most one name, and at most `--json` beside it."""
    names = [word for word in words if word != "--json"]
    return len(names) <= 1 and not any(word.startswith("-") for word in names)

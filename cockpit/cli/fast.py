"""The commands that must start quickly, run before anything heavy is imported: what is typed all
day, and the two processes behind a first start.

Only the simplest spellings are handled here. All others go through click to the same functions.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path

COMPLETING = "_COCKPIT_COMPLETE"
"""Set by a shell when it asks click for completions."""


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run the screen, the supervisor, `status`, `attach` or `dial-stdio`.

    Return None when the arguments need the full command line.
    """
    if COMPLETING in os.environ:
        return None
    from cockpit.cli.speech import guarded

    match list(arguments):
        case [*rest] if _configured(rest):
            from cockpit.cli.screen import open_screen

            return guarded(lambda: open_screen(_config(rest)))
        case ["--in-home-window", *rest] if _configured(rest):
            collect_later()
            from cockpit.cli.showing import show_in_home_window

            return guarded(lambda: show_in_home_window(_config(rest)))
        case ["up", "--foreground", *rest] if _configured(rest):
            collect_later()
            from cockpit.cli.launching import run_supervisor

            return guarded(lambda: run_supervisor(_config(rest)))
        case ["status", *rest] if _plain(rest):
            from cockpit.cli.status import show

            names = [word for word in rest if word != "--json"]
            return guarded(lambda: show(names[0] if names else None, as_json="--json" in rest))
        case ["attach", name, *rest] if not name.startswith("-") and rest in ([], ["--aside"]):
            from cockpit.cli.attach import attach

            return guarded(lambda: attach(name, aside=bool(rest)))
        case ["--client-ended", code]:
            from cockpit.cli.client_ended import tell

            return guarded(lambda: tell(int(code)))
        case ["dial-stdio"]:
            from cockpit.cli.dial import dial

            return guarded(dial)
        case _:
            return None


def collect_later() -> None:
    """Turn garbage collection off while modules are imported: imports allocate a lot and free
    little.

    `collect_from_here` turns it on again.
    """
    gc.disable()


def collect_from_here() -> None:
    """Turn garbage collection on again, and freeze what is loaded so that it is never scanned."""
    gc.freeze()
    gc.enable()


def _plain(words: Sequence[str]) -> bool:
    """Accept at most one name, and at most `--json` beside it."""
    names = [word for word in words if word != "--json"]
    return len(names) <= 1 and not any(word.startswith("-") for word in names)


def _configured(words: Sequence[str]) -> bool:
    """Accept nothing, or `--config FILE`; click reports a path that is not a file."""
    return not words or (len(words) == 2 and words[0] == "--config" and Path(words[1]).is_file())


def _config(words: Sequence[str]) -> Path | None:
    return Path(words[1]).absolute() if words else None

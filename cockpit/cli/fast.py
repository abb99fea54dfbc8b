"""The commands that must answer at once, recognised before anything heavy is imported: what a pilot
types all day, and the two processes behind a first start.

Only the plainest spellings are taken here; every other one goes through click and comes to the
same functions.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path

COMPLETING = "_COCKPIT_COMPLETE"
"""Set by a shell that asks click what could stand next."""


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run the screen, the supervisor, `status`, `attach` or `dial-stdio`.

    None when the arguments are for the whole command line.
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
    """Collect no garbage while modules are imported: they make much, and none of it is garbage.

    `collect_from_here` ends it.
    """
    gc.disable()


def collect_from_here() -> None:
    """What is there now stays for good and is not looked through again."""
    gc.freeze()
    gc.enable()


def _plain(words: Sequence[str]) -> bool:
    """At most one name, and at most `--json` beside it."""
    names = [word for word in words if word != "--json"]
    return len(names) <= 1 and not any(word.startswith("-") for word in names)


def _configured(words: Sequence[str]) -> bool:
    """Nothing but a file to use, or nothing; what is no file is for click to refuse."""
    return not words or (len(words) == 2 and words[0] == "--config" and Path(words[1]).is_file())


def _config(words: Sequence[str]) -> Path | None:
    return Path(words[1]).absolute() if words else None

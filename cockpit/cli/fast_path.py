"""Run the commands that must start quickly, before anything heavy is imported.

These are the commands that are used often, and the processes of the screen and the supervisor. Only
the simplest forms of each command are handled here. All other forms go through click to the same
functions.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path

COMPLETE_VARIABLE = "_COCKPIT_COMPLETE"
"""Variable that a shell sets when it asks click for completions."""


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run the command if it has a fast path; return the exit code.

    Commands with a fast path: the screen, the supervisor, `status`, `usage`, `facts`, `attach`,
    `dial-stdio`, `mcp`, and the options that only cockpit itself uses. Returns None for other
    commands, and for arguments that need click.
    """
    if COMPLETE_VARIABLE in os.environ:
        return None
    from cockpit.cli.output import run_guarded

    match list(arguments):
        case [*rest] if _only_config(rest):
            from cockpit.cli.screen import open_screen

            return run_guarded(lambda: open_screen(_config(rest)))
        case ["--in-home-window", *rest] if _only_config(rest):
            pause_gc()
            return run_guarded(lambda: _in_home_window(_config(rest)))
        case ["up", "--foreground", *rest] if _only_config(rest):
            pause_gc()
            from cockpit.cli.supervisor_process import run_supervisor

            return run_guarded(lambda: run_supervisor(_config(rest)))
        case ["status", *rest] if _is_simple_status(rest):
            from cockpit.cli.status import show

            names = [word for word in rest if word != "--json"]
            return run_guarded(lambda: show(names[0] if names else None, as_json="--json" in rest))
        case ["usage", *rest] if _is_simple_list(rest):
            pause_gc()
            from cockpit.cli.usage import usage

            files = [Path(word) for word in rest if word != "--json"]
            return run_guarded(lambda: usage(files, "--json" in rest))
        case ["facts", *rest] if _is_simple_list(rest) and len(set(rest) - {"--json"}) == 1:
            pause_gc()
            from cockpit.cli.facts import facts

            (file,) = set(rest) - {"--json"}
            return run_guarded(lambda: facts(Path(file), "--json" in rest))
        case ["attach", name, *rest] if not name.startswith("-") and rest in ([], ["--aside"]):
            from cockpit.cli.attach import attach

            return run_guarded(lambda: attach(name, aside=bool(rest)))
        case ["--client-ended", code]:
            from cockpit.cli.client_ended import report_client_end

            return run_guarded(lambda: report_client_end(int(code)))
        case ["--offer-handoff"]:
            from cockpit.cli.handoff_offer import print_offer

            return print_offer()
        case ["mcp"]:
            from cockpit.cli.mcp import serve_tools

            return run_guarded(serve_tools)
        case ["dial-stdio"]:
            from cockpit.cli.dial_stdio import dial

            return run_guarded(dial)
        case ["dial-stdio", "--multiplex"]:
            from cockpit.cli.dial_stdio import dial_multiplexed

            return run_guarded(dial_multiplexed)
        case _:
            return None


def _in_home_window(config: Path | None) -> int:
    from cockpit.cli.first_rows import first_rows

    with first_rows():
        from cockpit.cli.screen_modes import show_in_home_window

        return show_in_home_window(config)


def pause_gc() -> None:
    """Turn garbage collection off, until `resume_gc` turns it on.

    Importing modules and reading transcripts allocate many objects, but leave almost no garbage, so
    collections would only cost time.
    """
    gc.disable()


def resume_gc() -> None:
    """Turn garbage collection on again; collections will skip all objects that exist now."""
    gc.freeze()
    gc.enable()


def _is_simple_status(arguments: Sequence[str]) -> bool:
    """Return whether the arguments are only an optional name and an optional `--json`."""
    names = [word for word in arguments if word != "--json"]
    return len(names) <= 1 and not any(word.startswith("-") for word in names)


def _is_simple_list(arguments: Sequence[str]) -> bool:
    """Return whether the arguments are one or more files and at most one `--json`."""
    files = [word for word in arguments if word != "--json"]
    flags = len(arguments) - len(files)
    return bool(files) and flags <= 1 and not any(word.startswith("-") for word in files)


def _only_config(arguments: Sequence[str]) -> bool:
    """Return whether there are no arguments, or only `--config FILE` with an existing file."""
    return not arguments or (
        len(arguments) == 2 and arguments[0] == "--config" and Path(arguments[1]).is_file()
    )


def _config(arguments: Sequence[str]) -> Path | None:
    return Path(arguments[1]).absolute() if arguments else None

"""Recognise commands that a shell continues in the background: `npm run dev &`.

The CLI does not know of these commands, so the transcript does not show when they end.
"""

from __future__ import annotations

import re

from cockpit.core.command_lines import parts
from cockpit.core.deferred_pattern import deferred_pattern

_MAY_START = deferred_pattern(r"(?<![&>|])&(?![&>])")
_ENDS = deferred_pattern(r"(?:wait|kill|pkill|killall|fg)\b")
_PID = deferred_pattern(r"^(?:\[\d{1,3}\] |pid[:= ]*)?(\d{2,7})$", re.IGNORECASE | re.MULTILINE)
_KILL = deferred_pattern(r"\bkill\b[^|;&\n]*")
_NUMBER = deferred_pattern(r"(?<![\w%-])\d{2,7}\b")


def shell_jobs(command: str) -> tuple[str, ...]:
    """Return the commands that a command line leaves in the background.

    Empty if the command line waits for background commands or ends them.
    """
    if command.count("&") == 2 * command.count("&&") or not _MAY_START.search(command):
        return ()
    pieces = parts(command)
    if any(_ENDS.match(part.text) for part in pieces):
        return ()
    started, pipe = [], ""
    for part in pieces:
        if part.joined == "|":
            pipe += f"{part.text} | "
            continue
        if part.joined == "&" and not part.is_setup:
            started.append(pipe + part.text)
        pipe = ""
    return tuple(started)


def printed_pid(command: str, output: str) -> str:
    """Return the process id that the shell printed for a background command.

    The shell prints the id for `echo $!`, or as in `[1] 4711`. Empty if the shell printed no id, or
    several.
    """
    is_printed = "$!" in command or output.startswith("[")
    pids = {*_PID.findall(output)} if is_printed else set()
    return pids.pop() if len(pids) == 1 else ""


def ended_pids(command: str) -> frozenset[str]:
    """Return the process ids that a command line ends with `kill`."""
    if "kill" not in command:
        return frozenset()
    return frozenset(_NUMBER.findall(" ".join(_KILL.findall(command))))

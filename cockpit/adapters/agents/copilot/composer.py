"""Read from the screen whether Copilot's prompt box is empty.

The box is between two lines of `─` and begins with `❯`. While a dialog is open, there is no such
box.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

PROMPT_SIGN = "❯"
_RULE = re.compile(r"─{10,}")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def composer_empty(screen: Screen) -> bool | None:
    """Return whether the prompt box is empty; None if there is no prompt box."""
    lines = [_SGR.sub("", line).strip() for line in screen.lines]
    rules = [place for place, line in enumerate(lines) if _RULE.fullmatch(line)]
    if len(rules) < 2:
        return None
    box = lines[rules[-2] + 1 : rules[-1]]
    if not box or not box[0].startswith(PROMPT_SIGN):
        return None
    return not "".join([box[0].removeprefix(PROMPT_SIGN), *box[1:]]).strip()

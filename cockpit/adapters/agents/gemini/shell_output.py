"""Parse the text that Gemini gives the model as the result of a shell command (0.61.0).

The text is wrapped in tags. The output is between a label and some lines about the process.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WRAPPED = re.compile(r"\s*<untrusted_context>\n(.*)\n</untrusted_context>", re.DOTALL)
_LABEL = "Output: "
_EMPTY = "(empty)"
_ABOUT = re.compile(
    r"(?:\nExit Code: (\d{1,10}))?(?:\nSignal: ([^\n]*))?(?:\nBackground PIDs: [\d, ]*)?"
    r"(?:\nProcess Group PGID: \d+)?\Z"
)


class ShellOutput(NamedTuple):
    """The output and the exit status of a command."""

    text: str
    exit: int | None
    """The exit status; None after a signal."""


def shell_output(result: str) -> ShellOutput | None:
    """Return a command's result; None for text in another form, such as a cancelled command's."""
    wrapped = _WRAPPED.match(result)
    body = wrapped[1] if wrapped else result
    if not body.startswith(_LABEL):
        return None
    about = _ABOUT.search(body)
    code, signal = (about[1], about[2]) if about else (None, None)
    text = body[len(_LABEL) : about.start() if about else len(body)]
    status = None if signal is not None else int(code or 0)
    return ShellOutput("" if text == _EMPTY else text, status)

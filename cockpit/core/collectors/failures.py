"""Collect failed tool calls, each with the later call of the same kind that succeeded, if any."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace

from cockpit.core.activity import CallLine
from cockpit.core.check_commands import checks_in
from cockpit.core.collectors.bounded import remember_call
from cockpit.core.command_lines import program_of
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.facts import Failure
from cockpit.core.safetext import safe_line, without_escapes
from cockpit.core.session import ToolFinished

FAILURES_KEPT = 10
ERROR_KEPT = 300
_STATUS = deferred_pattern(r"\s*(?:Exit code|Error: Exit code) \d+\s*")
_TAGS = deferred_pattern(r"</?tool_use_error>")
_SAYS_ERROR = deferred_pattern(
    r"^\s*(?:E\s{2,}|FAILED |-{0,3} ?FAIL: |ERROR\b|error\b|fatal:|npm ERR!|panic:|Traceback)"
    r"|\b\w*(?:Error|Exception)\b:?|\b(?:error|fatal|cannot|can't|could not|failed|denied|not found"
    r"|no such|unknown|unrecognized|invalid|undefined|refused|missing)\b",
    re.IGNORECASE,
)
_EDITING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_LOOKS = frozenset(
    [
        "awk",
        "cat",
        "cut",
        "date",
        "df",
        "diff",
        "du",
        "echo",
        "env",
        "file",
        "find",
        "grep",
        "head",
        "jq",
        "less",
        "ls",
        "ps",
        "pwd",
        "rg",
        "sort",
        "stat",
        "tail",
        "tree",
        "type",
        "wc",
        "which",
    ]
)
_GIT_LOOKS = frozenset({"git branch", "git diff", "git log", "git show", "git status"})
_PENDING_MOST = 200
"""Maximum calls that are kept until the model sends its next message."""
_EMPTY_TRACE = deferred_pattern(r"\s*Traceback \(most recent call last\)")


class FailureCollector:
    """Keeps the newest failures of the main conversation.

    A call without a failed result counts as successful once the model sends its next request,
    because the API accepts a request only when every call has its result.
    """

    __slots__ = ("_between", "_failures", "_message", "_pending")

    def __init__(self) -> None:
        self._failures: deque[tuple[str, str, Failure]] = deque(maxlen=FAILURES_KEPT)
        self._pending: dict[str, CallLine] = {}
        """Tool calls of the model's current message, except failed ones."""
        self._message = ""
        self._between = ""
        """The last command or edit that succeeded since the last failure."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The failures, oldest first."""
        return tuple(failure for _, _, failure in self._failures)

    def replied(self, message: str) -> None:
        """Record the id of the message to which the next calls belong.

        A new id means that the earlier calls have returned.
        """
        if message == self._message:
            return
        self._message = message
        if any(not failure.worked for _, _, failure in self._failures):
            for call in self._pending.values():
                name, argument = call.name, call.argument
                if not argument:
                    continue
                self._succeeded(_key(name, argument), argument, str(call))
                if _changes(name, argument):
                    self._between = str(call)
        self._pending.clear()

    def called(self, ident: str, call: CallLine) -> None:
        """Record a call of the main conversation."""
        self._pending[ident] = call
        if len(self._pending) > _PENDING_MOST:
            remember_call(self._pending, ident, call, _PENDING_MOST // 2)

    def finished(self, event: ToolFinished, turn: int) -> None:
        known = self._pending.get(event.tool_use_id)
        if known is None or not event.failed:
            return
        del self._pending[event.tool_use_id]
        error = first_error(f"{event.text}\n{event.tail}")
        name, argument = known.name, known.argument
        if event.refused or event.interrupted or not error or not argument:
            return
        call = str(known)
        for entry in [*self._failures]:
            if entry[2].call == call and not entry[2].worked:
                self._failures.remove(entry)
        key = _key(name, argument)
        if key:
            self._between = ""
            self._failures.append((key, argument, Failure(call, error, turn=turn)))

    def _succeeded(self, key: str, argument: str, call: str) -> None:
        for at, (failed, before, failure) in enumerate(self._failures):
            if failed == key and not failure.worked and _same_check(before, argument):
                again = before == argument and key.startswith("Bash ")
                after = self._between if again else ""
                if call == failure.call and not again and key.startswith("Bash "):
                    # The calls differ only in a part that `described` leaves out, such as `cd`.
                    call = f"Bash {safe_line(' '.join(argument.split()), ERROR_KEPT)}"
                self._failures[at] = key, before, replace(failure, worked=call, after=after)


def _same_check(failed: str, worked: str) -> bool:
    """Return whether a later command runs all kinds of checks that a failed command ran.

    True if the failed command ran no checks.
    """
    kinds = {check.kind for check in checks_in(failed)}
    return not kinds or kinds <= {check.kind for check in checks_in(worked)}


def first_error(output: str) -> str:
    """Return the first line that looks like an error; else the first line, empty without output."""
    text = without_escapes(_TAGS.sub("", output))
    text = text[status.end() :] if (status := _STATUS.match(text)) else text
    lines = [line for line in text.split("\n") if line.strip()]
    telling = (line for line in lines if _SAYS_ERROR.search(line) and not _EMPTY_TRACE.match(line))
    return safe_line(next(telling, lines[0] if lines else "").strip(), ERROR_KEPT)


def _changes(name: str, argument: str) -> bool:
    """Return whether a call may have changed something; False for calls that only read."""
    if name != "Bash":
        return name in _EDITING
    named = program_of(argument)
    return bool(named) and named not in _GIT_LOOKS and named.partition(" ")[0] not in _LOOKS


def _key(name: str, argument: str) -> str:
    """Return a key for calls that do the same: the shell program, or the tool and its argument.

    Empty for a shell command whose program is unknown.
    """
    if name == "Bash":
        program = program_of(argument)
        return f"Bash {program}" if program else ""
    return f"{name} {argument}"

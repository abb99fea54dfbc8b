"""Collect the last test, lint and build commands of a session, with their results."""

from __future__ import annotations

from cockpit.core.check_commands import CheckKind, Found, checks_in, result_line, verdict
from cockpit.core.collectors.bounded import remember_call
from cockpit.core.command_lines import work
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import Check
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import ToolFinished

COMMAND_KEPT = 500


@dataclass(frozen=True, slots=True)
class _Run:
    """A finished check.

    The output is parsed only when `CheckCollector.checks` is read, because a later check of the
    same kind usually replaces this one.
    """

    found: Found
    command: str
    event: ToolFinished
    turn: int
    edits: int
    """Number of edits before the command was started."""


class CheckCollector:
    """Keeps the last check of each kind: test, lint and build."""

    __slots__ = ("_edits", "_last", "_running")

    def __init__(self) -> None:
        self._last: dict[CheckKind, _Run] = {}
        self._running: dict[str, tuple[str, tuple[Found, ...], int]] = {}
        self._edits = 0

    @property
    def checks(self) -> tuple[Check, ...]:
        """The last check of each kind, in the order in which they ended."""
        return tuple(_check(run, self._edits) for run in self._last.values())

    def edited(self) -> None:
        """Record that a call of the agent or a subagent changes a file."""
        self._edits += 1

    def called(self, ident: str, command: str) -> None:
        """Record a command of the agent or a subagent, if the command runs checks."""
        found = checks_in(command)
        if found:
            remember_call(self._running, ident, (command, found, self._edits), 100)

    def finished(self, event: ToolFinished, turn: int) -> None:
        known = self._running.pop(event.tool_use_id, None)
        if known is None or event.refused or event.interrupted or event.task_id:
            return
        command, found, edits = known
        for check in found:
            self._last.pop(check.kind, None)
            self._last[check.kind] = _Run(check, command, event, turn, edits)


def _check(run: _Run, edits: int) -> Check:
    event = run.event
    line = result_line(run.found.kind, f"{event.text}\n{event.tail}")
    succeeded = event.exit == 0 and run.found.exact_success
    exact = run.found.exact_failure if event.failed else succeeded
    return Check(
        kind=run.found.kind,
        command=cut_at_word(work(run.command), COMMAND_KEPT),
        failed=event.failed if exact else verdict(line),
        exit=event.exit if exact else None,
        result=line,
        edited_since=edits > run.edits,
        turn=run.turn,
    )

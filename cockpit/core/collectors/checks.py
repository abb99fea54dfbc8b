"""Collect the last test, lint and build commands of a session, with their results."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.check_commands import CheckKind, Found, checks_in, result_line, verdict
from cockpit.core.collectors.bounded import remember
from cockpit.core.collectors.files import changed_path
from cockpit.core.command_lines import work
from cockpit.core.facts import Check
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import ToolFinished, ToolUse

COMMAND_KEPT = 500


class CheckCollector:
    """Keeps the last check of each kind."""

    __slots__ = ("_checks", "_edits", "_running")

    def __init__(self) -> None:
        self._checks: dict[CheckKind, tuple[Check, int]] = {}
        self._running: dict[str, tuple[str, list[Found], int]] = {}
        self._edits = 0

    @property
    def checks(self) -> tuple[Check, ...]:
        """In the order in which they ended."""
        return tuple(
            replace(check, edited_since=self._edits > edits)
            for check, edits in self._checks.values()
        )

    def called(self, tool: ToolUse) -> None:
        """Note a call of the agent or a subagent."""
        if changed_path(tool):
            self._edits += 1
        elif tool.name == "Bash":
            command = tool.input.get("command")
            found = checks_in(command) if isinstance(command, str) else []
            if found:
                remember(self._running, tool.id, (str(command), found, self._edits), 100)

    def finished(self, event: ToolFinished, turn: int) -> None:
        known = self._running.pop(event.tool_use_id, None)
        if known is None or event.refused or event.interrupted or event.task_id:
            return
        command, found, edits = known
        output = f"{event.text}\n{event.tail}"
        for one in found:
            line = result_line(one.kind, output)
            succeeded = event.exit == 0 and one.exact_success
            exact = one.exact_failure if event.failed else succeeded
            failed = event.failed if exact else verdict(line)
            check = Check(
                kind=one.kind,
                command=cut_at_word(work(command), COMMAND_KEPT),
                failed=failed,
                exit=event.exit if exact else None,
                result=line,
                turn=turn,
            )
            self._checks.pop(one.kind, None)
            self._checks[one.kind] = (check, edits)

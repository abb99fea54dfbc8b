"""Collect the plan that a session follows: presented to the user, or written to a plan file."""

from __future__ import annotations

import re
from dataclasses import replace

from cockpit.core.facts import Plan
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import PlanRecorded, ToolFinished, ToolUse

PLAN_KEPT = 30_000
"""Maximum characters of a plan."""
PLAN_TOOL = "ExitPlanMode"
_PLAN_FILE = re.compile(r"/\.claude/plans/[^/]+\.md$")


class PlanCollector:
    """Keeps the latest plan."""

    __slots__ = ("_asked", "_before", "_plan", "_writing")

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._before: Plan | None = None
        self._asked = self._writing = ""

    @property
    def plan(self) -> Plan | None:
        """The plan; None if there is none, or if its text is unknown."""
        return self._plan if self._plan is not None and self._plan.text.strip() else None

    def called(self, tool: ToolUse, turn: int) -> None:
        """Record a call of the main conversation that presents or writes a plan."""
        if tool.name == PLAN_TOOL:
            self._asked = tool.id
            text, file = tool.input.get("plan"), tool.input.get("planFilePath")
            kept = cut_at_word(text, PLAN_KEPT) if isinstance(text, str) and text.strip() else ""
            known = self._plan or Plan("")
            self._plan = Plan(
                kept or known.text, file if isinstance(file, str) else known.file, None, turn
            )
        elif tool.name == "Write":
            path, content = tool.input.get("file_path"), tool.input.get("content")
            if isinstance(path, str) and isinstance(content, str) and _PLAN_FILE.search(path):
                self._before, self._writing = self._plan, tool.id
                self._plan = Plan(cut_at_word(content, PLAN_KEPT), path, None, turn)

    def finished(self, event: ToolFinished) -> None:
        if event.failed and self._writing and event.tool_use_id == self._writing:
            self._plan = self._before
        if not self._asked or event.tool_use_id != self._asked or self._plan is None:
            return
        self._asked = ""
        if event.refused:
            self._plan = replace(self._plan, approved=False)
        elif not event.failed:
            self._plan = replace(self._plan, approved=True)

    def recorded(self, event: PlanRecorded, turn: int) -> None:
        """Record the text of the plan file, as the CLI recorded it."""
        known = self._plan or Plan("", turn=turn)
        text = cut_at_word(event.text, PLAN_KEPT)
        self._plan = replace(known, text=text, file=event.file or known.file)

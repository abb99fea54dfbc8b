"""Add `--host` to the commands that another machine's supervisor names, so that they work here.

A supervisor names commands for its own machine, such as `cockpit stop api`. Texts of agents and
CLIs, such as the request of a permission dialog, stay unchanged.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from cockpit.core.far_names import commands_on
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.status import AgentStatus, ElsewhereSession, Wire
from cockpit.wire.verbs import Done
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

Answer = TypeVar("Answer")
Message = TypeVar("Message", bound=Wire)

_FIELDS: dict[type[Wire], tuple[str, ...]] = {
    DialogStatus: ("refusal",),
    Done: ("message",),
    ElsewhereSession: ("refusal",),
    Obstacle: ("next",),
}
"""The fields with the supervisor's own text, by message."""
_AGENTS_QUESTIONS = frozenset({"permission", "question"})
"""Kinds of needs whose `detail` is the question of the agent's CLI."""


class ForeignCommands:
    """Adds `--host` to the commands in the messages of one host.

    Every method returns the message itself if it names no command.
    """

    def __init__(self, host: str) -> None:
        self._host = host

    def answer(self, answer: Answer) -> Answer:
        """Add `--host` to the commands in an answer or a list of answers.

        Answers of other types than those in `_FIELDS` are returned unchanged.
        """
        completed: object = answer
        if isinstance(answer, list):
            completed = [self.answer(item) for item in answer]
        elif isinstance(answer, Wire) and (fields := _FIELDS.get(type(answer))) is not None:
            completed = self._completed(answer, fields)
        return cast("Answer", completed)

    def agent(self, agent: AgentStatus) -> AgentStatus:
        inner: dict[str, Any] = {}
        if agent.needs is not None and agent.needs.kind not in _AGENTS_QUESTIONS:
            inner["needs"] = self._completed(agent.needs, ("detail", "due"))
        if agent.handoff is not None:
            inner["handoff"] = self._completed(agent.handoff, ("detail",))
        is_changed = any(message is not getattr(agent, name) for name, message in inner.items())
        completed = self._completed(agent, ("note", "warning"))
        return completed.model_copy(update=inner) if is_changed else completed

    def tree(self, tree: WorktreeStatus) -> WorktreeStatus:
        obstacles = self.answer(tree.obstacles)
        is_changed = obstacles != tree.obstacles
        return tree.model_copy(update={"obstacles": obstacles}) if is_changed else tree

    def _completed(self, message: Message, fields: tuple[str, ...]) -> Message:
        texts = {field: getattr(message, field) for field in fields}
        changed = {
            field: completed
            for field, text in texts.items()
            if text and (completed := commands_on(self._host, text)) != text
        }
        return message.model_copy(update=changed) if changed else message

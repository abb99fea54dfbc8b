"""Collect what the user answered to the agent's questions, and said when refusing a tool call."""

from __future__ import annotations

from collections import deque

from cockpit.core.collectors.bounded import remember
from cockpit.core.facts import Answer, ToolRefusal
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import ToolFinished

KEPT = 20
"""Maximum answers, and maximum refusals, of one session; the newest are kept."""
TEXT_KEPT = 2_000
"""Maximum characters of a question, an answer or a reason."""


class QuestionCollector:
    """Keeps the newest answers and refusals."""

    __slots__ = ("_answers", "_calls", "_refusals")

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._answers: deque[Answer] = deque(maxlen=KEPT)
        self._refusals: deque[ToolRefusal] = deque(maxlen=KEPT)

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(self._answers)

    @property
    def refusals(self) -> tuple[ToolRefusal, ...]:
        return tuple(self._refusals)

    def called(self, ident: str, line: str) -> None:
        """Note a call of the main conversation, told in one line."""
        remember(self._calls, ident, line, 50)

    def finished(self, event: ToolFinished, turn: int) -> None:
        call = self._calls.pop(event.tool_use_id, "")
        for question, answer in event.answers:
            kept = cut_at_word(question, TEXT_KEPT), cut_at_word(answer, TEXT_KEPT)
            self._answers.append(Answer(turn, *kept))
        if event.refused:
            reason = cut_at_word(event.refusal, TEXT_KEPT)
            self._refusals.append(ToolRefusal(turn, call, reason))

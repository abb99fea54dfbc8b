"""Collect the user's answers to the agent's questions, and the tool calls that the user refused."""

from __future__ import annotations

from collections import deque

from cockpit.core.activity import CallLine
from cockpit.core.facts import Answer, ToolRefusal
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import ToolFinished

KEPT = 20
"""Maximum answers, and maximum refusals, of one session; the newest are kept."""
ASKING_TOOL = "AskUserQuestion"
TEXT_KEPT = 2_000
"""Maximum characters of a question, an answer or a reason."""


class QuestionCollector:
    """Keeps the newest answers and refusals."""

    __slots__ = ("_answers", "_refusals")

    def __init__(self) -> None:
        self._answers: deque[Answer] = deque(maxlen=KEPT)
        self._refusals: deque[ToolRefusal] = deque(maxlen=KEPT)

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(self._answers)

    @property
    def refusals(self) -> tuple[ToolRefusal, ...]:
        return tuple(self._refusals)

    def finished(self, event: ToolFinished, turn: int, call: CallLine | None) -> None:
        """Record the result of a call.

        `call` is None unless the main conversation made the call.
        """
        # Any output can look like an answer, so only the asking tool counts.
        asked = call is not None and call.name == ASKING_TOOL
        for question, answer in event.answers if asked else ():
            kept = cut_at_word(question, TEXT_KEPT), cut_at_word(answer, TEXT_KEPT)
            self._answers.append(Answer(turn, *kept))
        if event.refused:
            reason = cut_at_word(event.refusal, TEXT_KEPT)
            self._refusals.append(ToolRefusal(turn, str(call or ""), reason))

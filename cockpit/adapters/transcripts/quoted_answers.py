"""The user's answers to a question of the agent, in the text that the model gets as the result."""

from __future__ import annotations

import re

ANSWERS_KEPT = 20
_QUOTED = re.compile(r'"((?:[^"\n]|"(?!=))+)"="([^"\n]*)"')
_ANSWERED = ("User has answered your questions:", "Your questions have been answered:")


def quoted_answers(text: str) -> list[tuple[str, str]]:
    """Return the questions with their answers, as Claude Code and opencode quote them."""
    return _QUOTED.findall(text) if text.startswith(_ANSWERED) else []

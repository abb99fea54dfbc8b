"""Parse the user's answers from the text that the model gets as the result of its questions."""

from __future__ import annotations

import re

ANSWERS_KEPT = 20
_QUOTED = re.compile(r'"((?:[^"\n]|"(?!=))+)"="([^"\n]*)"')
_ANSWERED = ("User has answered your questions:", "Your questions have been answered:")


def quoted_answers(text: str) -> list[tuple[str, str]]:
    """Return pairs of question and answer from a result in the form of Claude Code or opencode;
    empty for any other text."""
    return _QUOTED.findall(text) if text.startswith(_ANSWERED) else []

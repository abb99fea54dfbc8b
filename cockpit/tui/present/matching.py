"""Match agents with the words of a filter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.present.states import look_of
from cockpit.wire.status import AgentStatus


@dataclass(frozen=True, slots=True)
class Match:
    """How an agent matches all words of a filter."""

    letters: tuple[int, ...]
    """The positions of the matched characters in the agent's name, ascending."""
    by_name: bool
    """Whether all words match the name; such agents are listed first."""


EVERYTHING = Match((), by_name=True)
"""The match of every agent without a filter."""


def match(agent: AgentStatus, terms: Sequence[str]) -> Match | None:
    """Return how an agent matches the words; None unless every word matches.

    A word matches the name if it is part of the name, or if its characters are in the name in the
    same order. The word matches another field, such as the branch, only where a word of that field
    begins.
    """
    if not terms:
        return EVERYTHING
    letters: set[int] = set()
    by_name = True
    fields = _fields(agent)
    for word in terms:
        name = agent.name.lower()
        at = name.find(word)
        if at >= 0:
            letters.update(range(at, at + len(word)))
        elif re.search(rf"(?<![^\W_]){re.escape(word)}", fields):
            by_name = False
        elif places := _in_order(name, word):
            letters.update(places)
        else:
            return None
    return Match(tuple(sorted(letters)), by_name)


def _fields(agent: AgentStatus) -> str:
    state = look_of(agent).word
    values = (agent.state.replace("_", " "), state, agent.branch, agent.activity, agent.model)
    return "\n".join(value.lower() for value in (*values, agent.mode, agent.runtime) if value)


def _in_order(name: str, word: str) -> list[int]:
    """Return the positions of the word's characters in the name; empty unless all are found."""
    places: list[int] = []
    for sign in word:
        at = name.find(sign, places[-1] + 1 if places else 0)
        if at < 0:
            return []
        places.append(at)
    return places

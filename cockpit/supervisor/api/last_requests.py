"""For each agent, remember the last request that answered its question or changed its work.

If an answer is refused because another user has already answered, the error names that user.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.actors import ANSWERS, REMEMBERED, ago, what_was_done
from cockpit.core.errors import NotNow
from cockpit.ports.clock import Clock
from cockpit.supervisor.agents.agent import Agent, LastRequest
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.wire.verbs import Done, Handoff, Verb

RECENT_SECONDS = 600.0
"""If a refused answer names no question, the error names the sender of the previous answer only if
that answer was given at most this many seconds ago."""


class LastRequests:
    """Records the last request about each agent (`Agent.last_request`)."""

    def __init__(self, fleet: Fleet, clock: Clock, changed: Callable[[Agent], None]) -> None:
        self._fleet = fleet
        self._clock = clock
        self._changed = changed

    def question(self, asked: Verb) -> str | None:
        """Return the id of the question that a request answers. Call this before the request runs.

        If the request names no question, returns the id of the handoff in progress, or None.
        """
        named = getattr(asked, "handoff", None) or getattr(asked, "dialog", None)
        if named is not None or asked.verb not in REMEMBERED:
            return named
        agent = self._fleet.find(getattr(asked, "name", "") or "")
        return agent.handoff_record.id if agent is not None and agent.handoff_record else None

    def note(self, asked: Verb, done: Done, by: str, question: str | None) -> None:
        """Record a completed request; `question` is the earlier result of the method `question`."""
        if asked.verb not in REMEMBERED or (isinstance(asked, Handoff) and asked.dry_run):
            return
        agent = self._fleet.find(done.name or getattr(asked, "name", "") or "")
        if agent is None:
            return
        handoff: str | None = agent.handoff_record.id if agent.handoff_record else None
        if asked.verb in ANSWERS and asked.verb != "answer":
            handoff = question
        agent.last_request = LastRequest(
            asked.verb, by, self._clock.steady(), question or handoff, handoff
        )
        self._changed(agent)

    def explained(self, refused: NotNow, asked: Verb) -> NotNow:
        """Return the refusal; add who has already answered the question and when, if known."""
        agent = self._fleet.find(getattr(asked, "name", "") or "")
        last = agent.last_request if agent is not None else None
        if asked.verb not in ANSWERS or last is None or last.verb not in ANSWERS:
            return refused
        named = getattr(asked, "handoff", None) or getattr(asked, "dialog", None)
        seconds = max(0.0, self._clock.steady() - last.at)
        if named != last.question if named is not None else seconds > RECENT_SECONDS:
            return refused
        text = what_was_done(last.verb, last.by, ago(seconds))
        refused.detail = f"{text[0].upper()}{text[1:]}. {refused.detail}".strip()
        return refused

"""Check a new session's first turns: repeated steps, broken standing orders, repeated questions.

The result is computed from the whole transcript each time, so that a restarted supervisor gets the
same result. The result is stored with the handoff.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_chosen
from cockpit.core.errors import CockpitError, OsProblem
from cockpit.core.first_turns import FirstTurns, before, first_turns
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Document, Outcome
from cockpit.core.steps_taken import FIRST_CALLS
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies


async def with_predecessor(
    dependencies: Dependencies, agent: Agent, sealed: Document
) -> HandoffDetails:
    """Return the handoff's details with the facts about the old session. Idempotent.

    Must be called before the old session is ended. Must be called after `ensure_approved`, because
    this function does not check the document that it reads. If the document cannot be read, returns
    the details unchanged, because the check of the first turns must not delay a handoff. Raises
    `OsProblem` if the file system does not answer.
    """
    details = agent.progress.details
    if details.before is not None:
        return details
    try:
        path = Path(sealed.path)
        text = await read_document(dependencies, path, partial(read_chosen, path))
    except OsProblem:
        raise
    except (CockpitError, OSError):
        return details
    reading = agent.session_state.reading
    subjects = [made.subject for made in reading.collector.facts().commits]
    return replace(
        details,
        tokens_before=agent.session_state.gauge.tokens,
        document_bytes=len(text.encode("utf-8", "replace")),
        before=before(reading.steps, subjects, text),
    )


class FirstTurnsCheck:
    """Checks the first turns of the new sessions of all agents."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._checked: dict[str, tuple[str, int, int, float | None, int | None]] = {}
        """For each agent, the inputs of the last check: the session, the number of confirmed
        handoffs, the number of calls (at most `FIRST_CALLS`), the time of the first change, and
        the tokens at the first reply."""

    def consider(self, agent: Agent) -> None:
        """Check the session's first turns, and store a new result. Idempotent.

        Does nothing while the transcript is still being read, or if nothing has happened since the
        last check.
        """
        session, steps = agent.session, agent.session_state.reading.steps
        if session is None or agent.catching_up or not steps.calls:
            return
        tokens = _first_count(agent)
        calls = min(steps.calls, FIRST_CALLS)
        # A session can take its first turns before its handoff is confirmed.
        now = session.id, agent.handoffs, calls, steps.first_change, tokens
        if self._checked.get(agent.name) == now:
            return
        record = self._arrival(agent)
        if record is not None:
            details = record.details
            if details.tokens_after is None:
                # Codex has no count yet when its first hook confirms the session.
                details = replace(details, tokens_after=tokens)
            if details.before is not None:
                details = replace(details, first_turns=self._found(agent, record))
            if details != record.details:
                record = replace(record, details=details)
                self._dependencies.store.save_handoff(record)
        agent.progress.arrival = record
        self._checked[agent.name] = now

    def _arrival(self, agent: Agent) -> HandoffRecord | None:
        """Return the confirmed handoff that began the session; None if there is none."""
        session, known = agent.session, agent.progress.arrival
        assert session is not None
        if known is not None and known.new_session == session.id:
            return known
        if session.previous is None:
            return None
        handoffs = self._dependencies.store.handoffs_of(session.job, session.previous)
        return next(
            (
                handoff
                for handoff in reversed(handoffs)
                if handoff.new_session == session.id and handoff.outcome == Outcome.DONE.value
            ),
            None,
        )

    def _found(self, agent: Agent, record: HandoffRecord) -> FirstTurns:
        assert agent.session is not None
        assert record.details.before is not None
        document = agent.must_read
        result = first_turns(
            record.details.before,
            agent.session_state.reading.steps,
            read=document is not None and agent.has_read(document),
            began=agent.session.created,
        )
        redactor = redactor_of(self._dependencies.environment, agent)

        def clean(lines: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(redactor.redact(line).text for line in lines)

        return replace(
            result,
            repeats=clean(result.repeats),
            broken=clean(result.broken),
            asked_again=clean(result.asked_again),
        )


def _first_count(agent: Agent) -> int | None:
    """Return the tokens in the context at the session's first reply; None if unknown."""
    replies = (point for point in agent.session_state.reading.meter.series if point.kind == "reply")
    first = next(replies, None)
    return first.tokens if first is not None and first.call == 1 else None

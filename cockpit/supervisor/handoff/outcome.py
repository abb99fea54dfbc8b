"""Close a handoff: save its outcome and apply it to the agent. Makes no decisions."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.handoff.states import Ended, Handoff, Outcome
from cockpit.core.ids import SessionId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.predicates import writers_failed
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff import announcements
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.handoff.policy import leaving
from cockpit.supervisor.sessions.lifecycle import Sessions


class Outcomes:
    """Closes the handoffs of all agents."""

    def __init__(
        self, dependencies: Dependencies, sessions: Sessions, document_builder: DocumentBuilder
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._document_builder = document_builder

    async def close(self, agent: Agent, ended: Ended) -> None:
        """Save the outcome, apply it, and remove the handoff from the agent.

        The outcome is saved durably before it is applied.
        """
        record = agent.handoff_record
        assert record is not None
        assert agent.handoff is not None
        done = ended.outcome is Outcome.DONE
        over = done or ended.outcome is Outcome.MOVED
        new = agent.handoff.successor(ended.attempt).session if done else None
        details = replace(record.details, closed=self._dependencies.clock.steady())
        if done:
            details = replace(details, tokens_after=agent.session_state.gauge.tokens)
        else:
            left = leaving(agent, self._dependencies.clock.monotonic())
            details = replace(details, left=left, compacted=ended.compacted)
        agent.runtime.withdraw_ask(agent.name)
        closed = replace(
            record,
            ended=self._now(),
            outcome=ended.outcome.value,
            why=ended.why,
            new_session=new,
            details=details,
        )
        with self._dependencies.store.transaction():
            self._dependencies.store.save_handoff(closed)
            old = self._dependencies.store.session(record.old_session)
            if over and old is not None:
                old = replace(old, state="handed_off", ended=self._now())
                self._dependencies.store.save_session(old)
            self._mark_failed_starts(agent.handoff, new)
        agent.progress.record = closed
        if ended.outcome is Outcome.MOVED and old is not None:
            agent.session = old
        await self._document_builder.tidy(agent, done=over)
        self._settle(agent, ended)
        announcements.ended(self._dependencies.event_log, agent, ended)
        agent.progress.end()
        agent.must_reconsider = True  # the first turns of the new session can be checked now
        unrecorded = agent.session is not None and agent.session.state == "live"
        if done and unrecorded and agent.exit is not None and not agent.alive:
            # The new session ended before it was confirmed.
            self._sessions.record_exit(agent, agent.exit)
        agent.read_chain(self._dependencies.store, closed.job)

    def _mark_failed_starts(self, handoff: Handoff, confirmed: SessionId | None) -> None:
        for successor in handoff.plan.successors:
            tried = self._dependencies.store.session(successor.session)
            if tried is not None and tried.id != confirmed:
                self._dependencies.store.save_session(
                    replace(tried, state="failed", ended=self._now())
                )

    def _settle(self, agent: Agent, ended: Ended) -> None:
        """Apply the outcome to the agent."""
        if ended.outcome is Outcome.DONE:
            agent.handoffs += 1
            if failed := writers_failed(agent):
                self._dependencies.store.save_agent(
                    agent.change(note=f"the previous session: {failed}")
                )
        elif ended.outcome is Outcome.MOVED:
            agent.handoffs += 1
            agent.exit = None
            self._sessions.finish(agent, replace(agent.record, wanted=False, note=ended.why))
        elif ended.outcome is Outcome.FAILED:
            agent.progress.set_failed(ended.why)
        elif ended.outcome is Outcome.REVIVED:
            note = f"the handoff failed ({ended.why.rstrip('.')}); the old session was reopened"
            self._dependencies.store.save_agent(agent.change(note=note))
            to = agent.handoff.plan.runtime if agent.handoff is not None else ""
            agent.progress.set_revived(self._dependencies.clock.steady(), ended.why, to)
        elif not agent.alive and agent.exit is not None:
            # The process ended during the handoff, and no session follows.
            ending = agent.exit.description
            self._sessions.finish(agent, replace(agent.record, ending=ending))

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()

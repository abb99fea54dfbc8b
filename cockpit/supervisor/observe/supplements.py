"""Give facts to a session whose conversation was compacted or cleared.

When the CLI announces a compaction, the facts are prepared for a hook, and updated until the
compaction happens. The transcript shows whether the session received the facts. If the session has
not received them by the end of its next turn, the facts are prepared once more, for the agent's
next step. For a CLI that does not announce compactions, the facts are prepared afterwards. With the
strategy `handoff`, only a cleared session gets facts.
"""

from __future__ import annotations

import secrets

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.events import FactsGiven, Plain
from cockpit.core.facts import Facts
from cockpit.core.supplement import Occasion
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import DocumentBuilder

FRESH = 5.0
"""Minimum seconds between two updates of prepared facts."""


@dataclass(slots=True)
class Prepared:
    """Facts that were prepared for one session and not received yet."""

    token: str
    occasion: Occasion
    calls: int
    """The session's number of API calls when the facts were written."""
    written: float
    """Time at which the facts were written, in monotonic seconds."""
    compactions: int
    """The session's number of compactions when the facts were first prepared."""
    beginnings: int
    """The session's `SessionActivity.continuations` when the facts were first prepared: the number
    of compactions after which the CLI reported that the session continues."""
    turns: int | None = None
    """Number of ended turns when the compaction was detected; None before that."""
    again: bool = False
    """Whether the facts were prepared a second time. They are not prepared a third time."""


class Supplements:
    """Prepares facts for sessions that are compacted or cleared."""

    def __init__(self, dependencies: Dependencies, document_builder: DocumentBuilder) -> None:
        self._dependencies = dependencies
        self._document_builder = document_builder
        self._prepared: dict[str, Prepared] = {}
        self._announced: dict[str, int] = {}
        """For each session, the number of announced compactions when facts were last prepared."""
        self._happened: dict[str, int] = {}
        """For each session, the number of compactions at the last check."""

    async def consider(self, agent: Agent) -> None:
        """Prepare or update the session's facts, or record that they were received. Idempotent.

        Does nothing in the mode `observe`.
        """
        if agent.session is None or not agent.alive or agent.settings.mode == "observe":
            return
        if agent.session_state.before is not None:
            before, agent.session_state.before = agent.session_state.before, None
            await self._prepare(agent, "clear", at_start=False, facts=before)
        prepared = self._prepared.get(agent.session.id)
        if prepared is not None and agent.has_received(prepared.token):
            del self._prepared[agent.session.id]
            self._record_given(agent, prepared)
            prepared = None
        if agent.settings.strategy != "handoff" and not agent.session_state.catching_up:
            await self._around_compaction(agent, prepared)

    async def _around_compaction(self, agent: Agent, prepared: Prepared | None) -> None:
        assert agent.session is not None
        announced = agent.session_state.activity.compactions_announced
        if announced > self._announced.get(agent.session.id, 0):
            self._announced[agent.session.id] = announced
            await self._prepare(agent, "compact", at_start=True)
        elif not announced and self._is_new(agent):
            await self._prepare(agent, "compact", at_start=False)
            if prepared is None and (now := self._prepared.get(agent.session.id)) is not None:
                now.again = True
        elif prepared is None or prepared.occasion != "compact":
            return
        elif self._was_missed(agent, prepared):
            await self._prepare_again(agent, prepared)
        elif agent.compactions > prepared.compactions:
            await self._follow_up(agent, prepared)
        elif self._is_stale(agent, prepared):
            at_start = not prepared.again
            await self._prepare(agent, "compact", at_start=at_start, over=prepared)

    def _is_new(self, agent: Agent) -> bool:
        """Return whether the session was compacted since the previous call.

        False for the first call.
        """
        assert agent.session is not None
        known = self._happened.get(agent.session.id, agent.compactions)
        self._happened[agent.session.id] = agent.compactions
        return agent.compactions > known

    async def _follow_up(self, agent: Agent, prepared: Prepared) -> None:
        """Prepare the facts again if a turn has ended since the compaction and the session has not
        received them."""
        if prepared.turns is None:
            prepared.turns = agent.turns
        elif agent.turns > prepared.turns and not prepared.again:
            self._dependencies.event_log.record(
                Plain("facts.dropped"),
                f"{agent.name} did not get the facts of its work after the compaction; cockpit "
                "sends them with the next step",
                agent.name,
            )
            await self._prepare_again(agent, prepared)

    def _was_missed(self, agent: Agent, prepared: Prepared) -> bool:
        """Withdraw the facts if the session continued after its compaction without them.

        Returns whether the facts were withdrawn.
        """
        if prepared.again or agent.session_state.activity.continuations <= prepared.beginnings:
            return False
        return agent.runtime.withdraw_supplement(agent.name)

    async def _prepare_again(self, agent: Agent, prepared: Prepared) -> None:
        agent.runtime.withdraw_supplement(agent.name)
        prepared.again = True
        await self._prepare(agent, "compact", at_start=False, over=prepared)

    def _is_stale(self, agent: Agent, prepared: Prepared) -> bool:
        """Return whether the agent has worked since the facts were written.

        False in the first `FRESH` seconds after the facts were written.
        """
        if agent.session_state.reading.meter.api_calls == prepared.calls:
            return False
        return self._dependencies.clock.monotonic() - prepared.written > FRESH

    async def _prepare(
        self,
        agent: Agent,
        occasion: Occasion,
        *,
        at_start: bool,
        facts: Facts | None = None,
        over: Prepared | None = None,
    ) -> None:
        assert agent.session is not None
        session = agent.session.id
        before, beginnings = agent.compactions, agent.session_state.activity.continuations
        token = over.token if over else f"facts {secrets.token_hex(4)}"
        text = await self._document_builder.supplement(agent, token, occasion, facts)
        if agent.session is None or agent.session.id != session:
            return  # another session began
        if over is not None and at_start and agent.compactions > over.compactions:
            return  # the compaction has happened, and the session received the earlier facts
        if not agent.runtime.supplement(agent.name, text, at_start=at_start):
            return
        prepared = over or Prepared(
            token, occasion, calls=0, written=0.0, compactions=before, beginnings=beginnings
        )
        prepared.calls, prepared.written = (
            agent.session_state.reading.meter.api_calls,
            self._dependencies.clock.monotonic(),
        )
        self._prepared[session] = prepared

    def _record_given(self, agent: Agent, prepared: Prepared) -> None:
        name = agent.name
        after = (
            f"After a compaction, {name}"
            if prepared.occasion == "compact"
            else f"After its session was cleared, {name}"
        )
        self._dependencies.event_log.record(
            FactsGiven(occasion=prepared.occasion, token=prepared.token),
            f"{after} received the facts about its work",
            agent.name,
        )

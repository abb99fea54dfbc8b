"""`cockpit continue`: start an agent from a document."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cockpit.core.events import Plain
from cockpit.core.ids import AgentName
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.arrived_chain import store_chain
from cockpit.supervisor.sessions.continuation import Continuation
from cockpit.supervisor.sessions.inheritance import Predecessor
from cockpit.wire.verbs import (
    Continue,
    Done,
)


class ContinueHandler:
    """Starts an agent from a handoff document (`Continue`)."""

    def __init__(
        self,
        dependencies: Dependencies,
        continuation: Continuation,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._continuation = continuation
        self._event_log = dependencies.event_log
        self._changed = changed

    async def __call__(self, asked: Continue) -> Done:
        """Start a new agent from a handoff document."""
        join = partial(self._join, asked) if asked.chain is not None else None
        agent = await self._continuation.continue_from(asked, join)
        if asked.moved_from:
            text = f"{agent.name} continues a job that was moved from {asked.moved_from}"
            self._event_log.record(Plain("agent.arrived"), safe_line(text, 200), agent.name)
        self._changed(agent)
        # cockpit's copy in the agent's directory, if the document was elsewhere
        document = (agent.session.document if agent.session else None) or asked.document
        cli = agent.settings.runtime
        message = f"{agent.name} ({cli}) continues from {document} in {agent.directory}"
        return Done(message=message, name=agent.name, pane=agent.record.pane)

    async def _join(self, asked: Continue, name: AgentName) -> Predecessor:
        """Store the chain of a moved job as the agent's own."""
        assert asked.chain is not None
        origin = asked.moved_from or "another machine"
        return await store_chain(self._dependencies, name, asked.chain, asked.handoff or "", origin)

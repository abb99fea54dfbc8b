"""Paste first prompts into programs that accept prompts only in their terminal.

A prompt is pasted at most once. It is kept in a private file until it is pasted, so that a
restarted supervisor can paste it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cockpit.core.errors import CockpitError
from cockpit.core.sgr import runs
from cockpit.ports.panes import Screen
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.agents.submit import paste, submit
from cockpit.supervisor.dependencies import Dependencies

LOOK = 0.3
"""Seconds between two checks of the screens of programs that are waiting for their prompt."""
LOOK_FOR_AGENTS = 1.0
"""Seconds between two checks whether there are agents whose first prompts cockpit pastes."""
PATIENCE = 30.0
"""Seconds after which the agent's row says that the screen does not show the expected text."""
KEY = "first prompt"
"""Key in `Troubles.failed` of the message about a first prompt that was not sent."""


class FirstPrompts:
    """Pastes each first prompt when the program's screen shows that the program is ready."""

    def __init__(
        self,
        dependencies: Dependencies,
        agents: Callable[[], Iterable[Agent]],
        locks: AgentLocks,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._locks = locks
        self._changed = changed
        self._waiting: dict[str, tuple[float, bool]] = {}
        """For each session's marker: when the wait began, and whether the screen was ready at the
        last check."""
        self._done: set[str] = set()

    async def run(self) -> None:
        """Paste prompts until cancelled."""
        while True:
            pasting = [agent for agent in self._agents() if agent.runtime.capabilities.pastes_at]
            for agent in pasting:
                run = agent.record.run
                if run and run not in self._done:
                    await self._look(agent, run)
            await self._dependencies.clock.sleep(LOOK if pasting else LOOK_FOR_AGENTS)

    async def _look(self, agent: Agent, run: str) -> None:
        prompts = self._dependencies.prompts
        if not agent.alive or agent.record.pane is None or self._locks.is_held(agent.name):
            return
        if prompts.is_half_pasted(run):
            self._take_half_pasted(agent, run)
            return
        if not prompts.to_paste(run):
            self._finish(agent, run)
            return
        try:
            screen = await self._dependencies.panes.capture(agent.record.pane)
        except CockpitError:
            return
        now = self._dependencies.clock.monotonic()
        since, was_ready = self._waiting.get(run, (now, False))
        ready = shows(screen, agent.runtime.capabilities.pastes_at)
        self._waiting[run] = since, ready
        if ready and was_ready:
            await self._paste(agent, run)
        elif not ready and now - since > PATIENCE:
            wanted = agent.runtime.capabilities.pastes_at
            self._tell(
                agent,
                f"the first prompt was not sent yet: the screen does not show {wanted!a} (`ready` "
                f"of the runtime {agent.runtime.name}). See the screen: "
                f"cockpit attach {agent.name}",
            )

    async def _paste(self, agent: Agent, run: str) -> None:
        prompts, pane = self._dependencies.prompts, agent.record.pane
        async with self._locks.hold(agent.name, "getting its first prompt"):
            if not agent.alive or pane is None or agent.record.run != run:
                return
            if not prompts.to_paste(run):
                return
            text = prompts.begin_paste(run)
            try:
                await paste(self._dependencies, agent, pane, text)
                await submit(self._dependencies, agent, pane)
            except CockpitError as refused:
                self._tell(
                    agent,
                    f"the first prompt may not have been sent: {refused.title}. "
                    f"Check the agent's pane: cockpit attach {agent.name}",
                )
                self._done.add(run)
                return
            prompts.end_paste(run)
        self._finish(agent, run)

    def _take_half_pasted(self, agent: Agent, run: str) -> None:
        """Report a prompt that an earlier supervisor did not finish pasting, unless it arrived."""
        if agent.session_state.user_prompts:
            self._dependencies.prompts.end_paste(run)
            self._finish(agent, run)
            return
        self._tell(
            agent,
            "cockpit was restarted while it pasted the first prompt. Check the agent's pane: "
            f"cockpit attach {agent.name}",
        )

    def _tell(self, agent: Agent, message: str) -> None:
        if agent.troubles.fail(KEY, message):
            self._changed(agent)

    def _finish(self, agent: Agent, run: str) -> None:
        self._done.add(run)
        self._waiting.pop(run, None)
        if agent.troubles.succeed(KEY):
            self._changed(agent)


def shows(screen: Screen, text: str) -> bool:
    """Return whether a line of the screen contains the text."""
    lines = ("".join(part for part, _ in runs(line)[0]) for line in screen.lines)
    return any(text in line for line in lines)

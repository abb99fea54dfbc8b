"""Start the agents with `start = "auto"`, and continue starts that were interrupted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from cockpit.core.errors import CockpitError, Failed, OsProblem
from cockpit.core.events import Plain
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.start import Starter


class AutomaticStarts:
    """Starts agents without a request by the user. `changed` is called after each attempt."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        setup: WorktreeSetup,
        starter: Starter,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._setup = setup
        self._starter = starter
        self._changed = changed

    async def _resume_setups(self) -> None:
        """Continue starts whose setup was interrupted when an earlier supervisor ended."""
        for agent in self._fleet:
            if self._setup.should_repeat(agent) is not None:
                async with self._sessions.locks.hold(agent.name, "being started"):
                    await self._resume_setup(agent)

    async def _resume_setup(self, agent: Agent) -> None:
        home = await self._dependencies.worktrees.home(agent.settings.directory)
        again = self._setup.should_repeat(agent)
        if again and home is not None and agent.directory.is_dir():
            agent.environment = self._sessions.orders.environment(agent)
            job = agent.job
            kept = self._dependencies.prompts.of_job(job.id) if job else None
            text = kept or (job.prompt if job else None) or ""
            self._starter.set_up_again(agent, home, text)
        elif again is not None:
            why = (
                f"the setup of the worktree was interrupted. Try again: cockpit start {agent.name}"
            )
            self._dependencies.store.save_agent(agent.change(gave_up=why))
            self._changed(agent)

    async def run(self) -> None:
        """Start the agents with `start = "auto"` that were never started.

        Continues interrupted starts first. A failed start does not affect the others.
        """
        await self._resume_setups()
        for agent in self._fleet:
            if _is_to_start(agent):
                async with self._sessions.locks.hold(agent.name, "being started"):
                    await self._start_by_itself(agent)

    async def _start_by_itself(self, agent: Agent) -> None:
        # The agent may have been started or removed while this waited for the lock.
        if not _is_to_start(agent) or self._fleet.find(agent.name) is not agent:
            return
        try:
            await self._starter.start(agent, None)
        except CockpitError as refused:
            self._note(agent, refused)
        except OSError as error:  # such as a full disk; the others are still started
            why = error.strerror or str(error)
            hint = f"Try again: cockpit start {agent.name}"
            self._note(agent, Failed(f"Cannot start {agent.name}", why, hint))
        self._changed(agent)

    def _note(self, agent: Agent, refused: CockpitError) -> None:
        why = f"{refused.title}. {refused.hint}".strip()
        with suppress(OsProblem):  # the event has the reason too
            self._dependencies.store.save_agent(agent.change(gave_up=why))
        self._dependencies.event_log.record(Plain("agent.not_started"), str(refused), agent.name)


def _is_to_start(agent: Agent) -> bool:
    runs = agent.alive or agent.start.hooks_run or agent.record.session is not None
    return agent.settings.start == "auto" and not runs

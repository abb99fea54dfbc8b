"""Reopen the agents that a reboot or the end of the tmux server interrupted.

If one agent cannot be reopened, the screen says why, and the others are still reopened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from cockpit.core.errors import CockpitError, Failed, NotNow, OsProblem
from cockpit.core.events import Plain
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import PATIENCE
from cockpit.supervisor.agents.predicates import reopen_hint
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.refusals import refuse_if_alive, refuse_if_handing_off
from cockpit.supervisor.sessions.reopen import LAST
from cockpit.supervisor.sessions.start import Starter
from cockpit.wire.verbs import Done, Resume, Start

AT_ONCE = 4
"""Maximum agents that are reopened at the same time. Each starts a CLI."""
CHECK_SECONDS = 5.0
"""Maximum seconds to read the CLI's files of one session."""


class Resumer:
    """Reopens the agents that a reboot or the end of the tmux server interrupted (`Resume`).

    With `resume = "always"`, reopens them without a request.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        starter: Starter,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._starter = starter
        self._changed = changed

    async def resume(self, asked: Resume) -> Done:
        """Reopen all interrupted agents, or only the named one; return each agent's result.

        With `dry_run`, only returns which agents can be reopened.
        """
        agents = self.interrupted()
        if asked.name is not None:
            only = self._fleet.agent(asked.name)
            agents = [agent for agent in agents if agent is only]
        if not agents:
            who = f"{asked.name} was not" if asked.name is not None else "no agent was"
            message = f"Nothing to reopen: {who} interrupted by a reboot or a tmux exit"
            return Done(message=message)
        if asked.dry_run:
            refusals = await asyncio.gather(*(self._why_not(agent) for agent in agents))
            lines = [
                _line(agent, refusal, "can be reopened")
                for agent, refusal in zip(agents, refusals, strict=True)
            ]
            message = f"{counted(len(agents), 'agent')} interrupted by a reboot or a tmux exit"
            return Done(message=message, text="\n".join(lines))
        refusals = await self._reopen_all(agents, asked.prompt)
        lines = [
            _line(
                agent, refusal, f"reopened session {agent.session.number if agent.session else 1}"
            )
            for agent, refusal in zip(agents, refusals, strict=True)
        ]
        failed = sum(refusal is not None for refusal in refusals)
        message = f"Reopened {counted(len(agents) - failed, 'agent')}"
        if failed:
            message += f"; could not reopen {counted(failed, 'agent')}. Reasons: cockpit status"
        return Done(message=message, text="\n".join(lines))

    async def resume_automatic(self) -> None:
        """Reopen the interrupted agents that have `resume = "always"`, after a restart."""
        agents = [agent for agent in self.interrupted() if agent.settings.resume == "always"]
        await self._reopen_all(agents, None)

    def interrupted(self) -> list[Agent]:
        """Return the agents that were interrupted and not started since, in the fleet's order."""
        return [agent for agent in self._fleet if reopen_hint(agent) is not None]

    async def _why_not(self, agent: Agent) -> CockpitError | None:
        """Return why the agent's session cannot be reopened; None if no reason is known."""
        if agent.session is None:
            return None
        order = self._sessions.orders.of(agent, replace(agent.session), None, resume=True)
        # It reads the CLI's files, which may be on a file system that does not answer.
        check = partial(agent.runtime.resumable, order)
        try:
            await self._dependencies.slow.ask(("resumable", agent.name), check, CHECK_SECONDS)
        except CockpitError as refused:
            return refused
        return None

    async def _reopen_all(
        self, agents: Iterable[Agent], prompt: str | None
    ) -> list[CockpitError | None]:
        room = asyncio.Semaphore(AT_ONCE)

        async def reopen(agent: Agent) -> CockpitError | None:
            async with room:
                return await self._reopen(agent, prompt)

        return list(await asyncio.gather(*(reopen(agent) for agent in agents)))

    async def _reopen(self, agent: Agent, prompt: str | None) -> CockpitError | None:
        """Reopen one agent's session. Return the error, which the screen shows too."""
        try:
            async with self._sessions.locks.hold(agent.name, "being reopened", patience=PATIENCE):
                refuse_if_alive(agent)
                refuse_if_handing_off(agent)
                if reopen_hint(agent) is None:
                    return NotNow(
                        f"{agent.name} was reopened or stopped in the meantime",
                        "",
                        f"See: cockpit status {agent.name}",
                    )
                asked = Start(name=agent.name, prompt=prompt, resume=LAST)
                again = self._starter.agent_for(agent.name, asked)
                await self._starter.start(again, prompt, resume=LAST)
        except CockpitError as refused:
            self._note(agent, refused)
            return refused
        except OSError as wrong:  # such as a full disk; the others are still reopened
            refusal = Failed(
                f"Cannot start {agent.name}",
                wrong.strerror or str(wrong),
                hint=f"Try again: cockpit start {agent.name} --resume",
            )
            self._note(agent, refusal)
            return refusal
        finally:
            self._changed(agent)
        return None

    def _note(self, agent: Agent, refused: CockpitError) -> None:
        why = f"the session cannot be reopened: {_reason(refused)}. {_remedy(agent, refused)}"
        with suppress(OsProblem, OSError):  # the response has the reason too
            self._dependencies.store.save_agent(agent.change(gave_up=why))
        self._dependencies.event_log.record(
            Plain("agent.not_started"), f"{agent.name}: {why}", agent.name
        )


def _line(agent: Agent, refused: CockpitError | None, otherwise: str) -> str:
    if refused is None:
        return f"{agent.name}  {otherwise}"
    return f"{agent.name}  cannot be reopened: {_reason(refused)}. {_remedy(agent, refused)}"


def _reason(refused: CockpitError) -> str:
    return safe_line(": ".join(filter(None, (refused.title, refused.detail))), 300).rstrip(".")


def _remedy(agent: Agent, refused: CockpitError) -> str:
    """Return the next step: try again after a temporary error, else start a new session."""
    if isinstance(refused, NotNow | Failed):
        return refused.hint or f"Try again: cockpit start {agent.name} --resume"
    return f"Start a new session: cockpit start {agent.name}"

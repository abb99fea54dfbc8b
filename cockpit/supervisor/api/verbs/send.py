"""`cockpit send`: type a prompt into an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.core.handoff.events import Turn
from cockpit.ports.panes import PanesSilent
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import PATIENCE, AgentLocks
from cockpit.supervisor.agents.submit import paste, refuse_first_dialog, submit
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.refusals import pane_of
from cockpit.wire.verbs import (
    Done,
    Send,
)

ACCEPTED_WITHIN = 8.0
"""Seconds within which a CLI usually reports a prompt. Then the prompt box is checked."""
REPORTED_WITHIN = 40.0
"""Additional seconds within which a CLI must report a prompt that has left the prompt box; a busy
machine can be late. A client waits longer than `ACCEPTED_WITHIN` plus these seconds."""
EMPTY_WITHIN = 2.0
"""Seconds within which the prompt box must become empty before a prompt is pasted, and before an
error says that the CLI did not accept the prompt. Gemini shows the previous prompt in the box for
about a second while it reopens a session. A CLI can show a prompt in the box until just before it
accepts the prompt."""
LOOK_AGAIN = 0.2
"""Seconds between two checks of the prompt box."""


class SendHandler:
    """Types a prompt into an agent's pane (`Send`). Holds the agent's lock while typing."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        locks: AgentLocks,
        consider: Callable[[Agent], Awaitable[None]],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._locks = locks
        self._consider = consider

    async def __call__(self, asked: Send) -> Done:
        """Paste a prompt into the agent's prompt box; wait until an idle agent accepts it."""
        if not asked.text.strip():
            raise BadUsage("Nothing to send", hint="Give the prompt as an argument.")
        async with self._locks.hold(asked.name, "being sent a prompt", patience=PATIENCE):
            agent = self._running(asked.name)
            if agent.must_reconsider:
                # The facts after a compaction that was just detected are sent with this prompt.
                await self._consider(agent)
                agent = self._running(asked.name)
            _refuse_dialog(agent)
            accepted, idle = await self._type(agent, asked.text)
        if not agent.has_readings or not idle:
            result = "sent" if not agent.has_readings else "queued until the turn ends"
            return Done(message=f"{agent.name}: {result}", name=agent.name)
        if not await _until(accepted, ACCEPTED_WITHIN):
            await self._await_late(agent, accepted)
        return Done(message=f"{agent.name} accepted the prompt", name=agent.name)

    async def _await_late(self, agent: Agent, accepted: Callable[[], bool]) -> None:
        """Wait until a busy CLI accepts the prompt. Raises `Failed` if the CLI does not, and after
        `EMPTY_WITHIN` if the prompt is still in the prompt box."""
        left = True
        with suppress(PanesSilent, CockpitError):
            left = await self._leaves_box(agent, accepted)
        if not left:
            why = "The prompt was pasted and submitted, but is still in the prompt box."
        else:
            await _until(lambda: accepted() or not agent.alive, REPORTED_WITHIN)
            why = "The prompt was pasted and submitted, but the agent did not react."
        if not accepted():
            raise Failed(
                f"{agent.name} did not accept the prompt",
                why,
                f"Check the agent's pane: cockpit attach {agent.name}",
            )

    async def _composer(self, agent: Agent) -> bool | None:
        """Return whether the prompt box is empty; None if there is no box, or no pane."""
        if agent.record.pane is None:
            return None
        return agent.runtime.composer(await self._dependencies.panes.capture(agent.record.pane))

    async def _type(self, agent: Agent, text: str) -> tuple[Callable[[], bool], bool]:
        """Paste and submit a prompt.

        Returns a function that checks whether the CLI has accepted the prompt. The second result is
        whether the agent was idle.
        """
        pane, process = agent.record.pane, agent.process
        state, activity = agent.session_state, agent.session_state.activity

        def check_again() -> None:
            if not agent.alive or agent.process != process:
                raise NotNow(
                    f"{agent.name} ended before the prompt was sent",
                    str(agent.exit)
                    if agent.exit
                    else "Another session is running in the agent's pane.",
                    f"See: cockpit status {agent.name}",
                )
            _refuse_dialog(agent)

        assert pane is not None
        await refuse_first_dialog(self._dependencies, agent, pane)
        await self._check_composer(agent)
        check_again()
        idle, prompts, newest = (
            activity.turn is not Turn.WORKING, activity.prompts, state.user_prompts[-1:],
        )  # fmt: skip

        def accepted() -> bool:
            if agent.session_state is not state:  # a new session began, such as by /clear
                return agent.process == process
            # Without hooks, the prompt is only in the transcript.
            return activity.prompts > prompts or state.user_prompts[-1:] != newest

        await paste(self._dependencies, agent, pane, text)
        check_again()
        await submit(self._dependencies, agent, pane)
        return accepted, idle

    async def _check_composer(self, agent: Agent) -> None:
        if not await self._leaves_box(agent):
            raise NotNow(
                f"{agent.name}'s prompt box is not empty",
                "The text in the box would be sent together with your prompt.",
                f"Send or clear the text there: cockpit attach {agent.name}",
            )

    async def _leaves_box(self, agent: Agent, accepted: Callable[[], bool] = lambda: False) -> bool:
        """Return whether the prompt box is empty, or the text is accepted, within `EMPTY_WITHIN`.
        True for a pane without a prompt box."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + EMPTY_WITHIN
        while not accepted() and await self._composer(agent) is False:
            if clock() >= deadline:
                return False
            await asyncio.sleep(LOOK_AGAIN)
        return True

    def _running(self, name: str) -> Agent:
        agent = self._fleet.agent(name)
        if not agent.runtime.capabilities.prompts:
            raise NotNow(
                f"{name} does not accept prompts in its pane",
                f'The runtime "{agent.runtime.name}" does not have takes_paste = true.',
                f"Type the prompt yourself: cockpit attach {name}",
            )
        if not agent.alive:
            raise NotNow(
                f"{name} is not running",
                str(agent.exit) if agent.exit else "",
                f"Start the agent: cockpit start {name}",
            )
        pane_of(agent)
        return agent


def _refuse_dialog(agent: Agent) -> None:
    """Raise `NotNow` while a dialog is open: the text would answer the dialog."""
    if agent.session_state.activity.turn is Turn.DIALOG or agent.troubles.dialog:
        raise NotNow(
            f"{agent.name} is asking a question in its pane",
            "Your text would be taken as the answer.",
            f"Answer the question: cockpit answer {agent.name}"
            if agent.runtime.capabilities.answers and not agent.troubles.dialog
            else f"Answer in the pane: cockpit attach {agent.name}",
        )


async def _until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = asyncio.get_running_loop().time() + seconds
    while not true():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True

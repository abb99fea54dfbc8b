"""Watch the demo without a screen: print events, approve handoffs, and wait for the end.

Uses only the client. In a dialog that a job expects, takes the first choice. Any other dialog ends
the demo with an error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from cockpit.client.http import HttpClient
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.wire.status import AgentStatus, Needs, Status
from cockpit.wire.verbs import Answer, Approve

Goal = Callable[[AgentStatus], bool]
"""Returns whether an agent has reached its goal. After that, the demo does not answer the agent's
questions."""

LOOK_SECONDS = 0.5
PROGRESS_SECONDS = 15.0
ANSWERED = ("handoff", "review")
DIALOGS = ("permission", "question")
LOST = ("exited", "stopped")
LASTING_SECONDS = 30.0
"""Seconds for which an agent's failure must last to end the demo, because cockpit retries most
operations."""
LOOK_CLOSER = "Run the demo with --keep to keep its logs and transcripts."


def is_done(agent: AgentStatus) -> bool:
    """Return whether the agent's job is done."""
    return agent.state == "done"


class Watch:
    """Polls a supervisor until every agent has reached its goal."""

    def __init__(
        self,
        client: HttpClient,
        say: Callable[[str], None],
        seconds: float,
        goal: Goal = is_done,
        expected: Collection[str] = (),
        lasting: float = LASTING_SECONDS,
    ) -> None:
        """`expected`: the commands and questions whose dialogs are answered with the first choice.

        `lasting`: seconds for which a running agent's failure must last to be raised.
        """
        self._client, self._say = client, say
        self._goal = goal
        self._expected = expected
        self._lasting = lasting
        self._failing_since: dict[str, float] = {}
        self._began = time.monotonic()
        self._deadline = self._began + seconds
        self._spoken = self._began
        self._last_event = 0
        self._answered: set[tuple[str, str, str]] = set()

    async def until_reached(self) -> Status:
        """Wait until every agent is at its goal; return the status at that time.

        Raises `Failed` with the reason if an agent can no longer reach its goal, or after the time
        limit.
        """
        while True:
            await self._tell_events()
            status = await self._client.status()
            if all(map(self._goal, status.agents)):
                await self._tell_events()
                return status
            for agent in status.agents:
                await self._attend(agent)
            if time.monotonic() > self._deadline:
                states = ", ".join(map(described, status.agents))
                goal = "was done" if self._goal is is_done else "had reached its state"
                raise Failed(f"Time limit reached before every agent {goal}", states, LOOK_CLOSER)
            self._tell_progress(status)
            await asyncio.sleep(LOOK_SECONDS)

    async def _attend(self, agent: AgentStatus) -> None:
        """Approve this agent's handoff, or answer an expected dialog.

        Raises `Failed` for any other question, and if the agent ended or cannot continue.
        """
        if self._goal(agent):
            return
        if agent.state in LOST and agent.session_id is not None:
            note = agent.note or "The agent's CLI is no longer running."
            raise Failed(f"{agent.name} ended before its job was done", note, LOOK_CLOSER)
        if agent.needs is None or agent.needs.kind != "failed":
            self._failing_since.pop(agent.name, None)
        elif self._may_pass(agent.name):
            return
        else:
            raise Failed(f"{agent.name} cannot continue", agent.needs.detail, LOOK_CLOSER)
        if agent.needs is None:
            return
        if agent.needs.kind in DIALOGS and await self._answer(agent, agent.needs):
            return
        if agent.needs.kind not in ANSWERED:
            title = f"{agent.name} is waiting for an answer: {agent.needs.kind}"
            raise Failed(title, agent.needs.detail, LOOK_CLOSER)
        handoff = agent.handoff.id if agent.handoff else ""
        question = (agent.name, handoff, agent.needs.kind)
        if question in self._answered:
            return
        self._answered.add(question)
        self._tell(f"approved by the demo: {agent.name} ({agent.needs.kind})")
        # The question may have been answered meanwhile.
        with suppress(NotNow):
            await self._client.ask(Approve(name=agent.name, handoff=handoff or None))

    def _may_pass(self, name: str) -> bool:
        now = time.monotonic()
        return now - self._failing_since.setdefault(name, now) < self._lasting

    async def _answer(self, agent: AgentStatus, needs: Needs) -> bool:
        """Take the first choice of the agent's dialog; return False for a dialog that no job asks
        for."""
        about = f"{needs.command or ''}\n{needs.detail}"
        if not any(text in about for text in self._expected):
            return False
        # The dialog may not be drawn yet, or may have been answered meanwhile.
        with suppress(NotNow):
            shown = await self._client.dialog(agent.name)
            if shown.identity is not None:
                first = Answer(name=agent.name, dialog=shown.identity, choices=[1])
                await self._client.ask(first)
                self._tell(f"answered by the demo: {agent.name} ({shown.choices[0].label})")
        return True

    async def _tell_events(self) -> None:
        for event in await self._client.events(after=self._last_event):
            self._last_event = event.id
            self._tell(f"{event.agent or 'cockpit'}: {event.text}")

    def _tell_progress(self, status: Status) -> None:
        if time.monotonic() - self._spoken > PROGRESS_SECONDS:
            self._tell("running: " + ", ".join(map(described, status.agents)))

    def _tell(self, text: str) -> None:
        self._spoken = time.monotonic()
        self._say(f"{self._spoken - self._began:6.1f} s  {safe_line(text, 300)}")


def described(agent: AgentStatus) -> str:
    """Format an agent's name, state and context use."""
    used = agent.context.used
    share = "" if used is None else f" {used:.0%}"
    return f"{agent.name} {agent.state}{share}"

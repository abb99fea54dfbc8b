"""The user's answers to the question of a handoff: approve, refuse, snooze.

An answer applies only to the question that the user saw. Each method returns `Done`, or raises
`NotNow` without changing anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from cockpit.core.bands import Band
from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import Declined, Snoozed
from cockpit.core.handoff.states import PHASES, Asked, Confirming, Moving, Reviewing, is_revocable
from cockpit.core.timestamps import duration
from cockpit.core.token_counts import token_count
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.predicates import start_again
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.policy import name_of
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.history.chains import History
from cockpit.wire.verbs import Approve, Done, Refuse, Snooze

JUST_NOW = 10.0
"""Seconds after an approval during which another user may not have seen the approval."""


class Answers:
    """Applies the user's answer to a handoff question: `Approve`, `Refuse` or `Snooze`."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        triggers: Triggers,
        history: History,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._triggers = triggers
        self._history = history
        self._changed = changed

    async def approve(self, asked: Approve) -> Done:
        """Approve the handoff, or its document if the document is under review."""
        agent = self._agent_with_question(asked.name, asked.handoff)
        assert agent.handoff is not None
        first = isinstance(agent.handoff.state, Asked)
        if asked.sha256 is not None:
            if first:
                raise NotNow(
                    f"No document of {agent.name} is under review",
                    "Nothing was approved: the document is written after you approve the handoff.",
                    f"To approve the handoff: cockpit approve {agent.name}",
                )
            await self._same_document(agent, asked.sha256)
        self._note_answer(agent, asked.by)
        await self._engine.approve(agent, asked.sha256, straight=asked.straight)
        moves = agent.handoff.plan.move_to if agent.handoff else ""
        step = "moving the job to " + moves if moves else "starting a new session"
        step = "preparing the document" if first else step
        return Done(message=f"Approved: {step} ({agent.name})", name=agent.name)

    async def refuse(self, asked: Refuse) -> Done:
        """Refuse the open question, or cancel a handoff before the old session is ended.

        If the new session is running but not confirmed, reopens the old session.
        """
        agent = self._fleet.agent(asked.name)
        self._refuse_if_just_approved(agent, asked)
        if agent.handoff is not None and isinstance(agent.handoff.state, Confirming):
            return await self.give_up(agent, asked.by)
        if agent.handoff is None or not is_revocable(agent.handoff):
            raise _no_question(agent)
        same_handoff(agent, asked.handoff)
        if asked.compact:
            self._triggers.let_compact(agent)
        self._note_answer(agent, asked.by)
        moving = isinstance(agent.handoff.state, Moving)
        host = agent.handoff.plan.move_to
        await self._engine.apply(agent, Declined(name_of(asked.by)))
        if moving and agent.alive:
            message = (
                f"Refused: {agent.name} keeps its session. If a session of the job already runs on "
                f"{host}, stop that session"
            )
            return Done(message=message, name=agent.name)
        if not agent.alive:
            message = f"Refused: {agent.name} is not running. {start_again(agent)}"
            return Done(message=message, name=agent.name)
        # An idle agent has no new token count that would show on its row when cockpit asks again.
        await self._triggers.consider(agent)
        self._changed(agent)
        then = "; cockpit asks again after a compaction" if asked.compact else ""
        return Done(message=f"Refused: {agent.name} keeps its session{then}", name=agent.name)

    def _refuse_if_just_approved(self, agent: Agent, asked: Refuse) -> None:
        """Raise `NotNow` if another user has just approved the question that this user saw.

        Otherwise this refusal would cancel the approved handoff, perhaps without this user knowing
        of the approval.
        """
        last = agent.last_request
        if asked.handoff is None or last is None or last.verb != "approve":
            return
        seconds = self._dependencies.clock.steady() - last.at
        if last.by in ("", asked.by) or last.question != asked.handoff or seconds > JUST_NOW:
            return
        raise NotNow(
            f"The handoff of {agent.name} was approved before your answer arrived",
            "Nothing was cancelled.",
            f"To cancel the handoff all the same: cockpit refuse {agent.name}",
        )

    def _note_answer(self, agent: Agent, by: str) -> None:
        """Note the user who answered, for the history. Saved with the handoff's next state."""
        if by and agent.handoff_record is not None:
            agent.progress.note(replace(agent.progress.details, answered_by=by))

    async def give_up(self, agent: Agent, by: str) -> Done:
        """End a new session that has not replied yet, and reopen the old one."""
        await self._engine.apply(agent, Declined(name_of(by)))
        self._changed(agent)
        message = f"Cancelled the new session of {agent.name}; reopening the old one"
        return Done(message=message, name=agent.name)

    async def snooze(self, asked: Snooze) -> Done:
        """Ask about the handoff again later."""
        agent = self._agent_with_question(asked.name, asked.handoff)
        if asked.percent is not None:
            tokens = _later_by(agent, asked.percent)
            await self._engine.apply(agent, Snoozed(None, tokens))
            when = f"at {token_count(tokens)} tokens"
        else:
            until = self._dependencies.clock.monotonic() + asked.seconds
            await self._engine.apply(agent, Snoozed(until))
            when = f"in {duration(asked.seconds)}" if asked.seconds else "now"
        self._changed(agent)
        return Done(message=f"Asking again {when} ({agent.name})", name=agent.name)

    def _agent_with_question(self, name: str, handoff: str | None) -> Agent:
        """Return the agent if its handoff has an open question; raise `NotNow` otherwise."""
        agent = self._fleet.agent(name)
        if agent.handoff is None or not isinstance(agent.handoff.state, Asked | Reviewing):
            raise _no_question(agent)
        same_handoff(agent, handoff)
        return agent

    async def _same_document(self, agent: Agent, seen: str) -> None:
        """Raise `NotNow` unless the document is the version that the user read."""
        assert agent.handoff_record is not None
        text = await self._history.document(agent.handoff_record.id)
        if hashlib.sha256(text.encode()).hexdigest() != seen.lower():
            raise NotNow(
                f"The handoff document of {agent.name} has changed since it was shown",
                "Nothing was approved or ended.",
                f"Read the document again, then answer: cockpit show {agent.handoff_record.id[:8]}",
            )


def _later_by(agent: Agent, percent: float) -> int:
    """Return the current token count plus `percent` of the window.

    At most the force threshold, at which cockpit always asks again. Raises `NotNow` if the current
    usage is unknown, or if the context is in the force band already.
    """
    reading, marks = agent.session_state.gauge.reading, agent.marks
    instead = f"Give a time instead: cockpit snooze {agent.name} 10m"
    if reading.tokens is None or not reading.window or marks is None:
        raise NotNow(
            f"The context usage of {agent.name} is unknown",
            "A percentage is added to the current usage.",
            instead,
        )
    if agent.band is Band.FORCE:
        raise NotNow(
            f"The context of {agent.name} is above the force threshold",
            "A snooze by context usage ends at the force threshold "
            f"({token_count(marks.force.tokens)} tokens).",
            instead,
        )
    return min(reading.tokens + int(reading.window * percent / 100), marks.force.tokens)


def _no_question(agent: Agent) -> NotNow:
    if agent.handoff is not None:
        phase = PHASES.get(type(agent.handoff.state), "ended")
        detail = f"Current phase of the handoff: {phase}."
        hint = f"Wait for the agent's next question: cockpit wait {agent.name} --for needs-you"
    elif agent.alive:
        detail = "No handoff is in progress."
        hint = f"Begin a handoff: cockpit handoff {agent.name}"
    else:
        detail = "The agent is not running, and no handoff is in progress."
        reopens = agent.runtime.capabilities.reopening and agent.record.session is not None
        resume = " --resume" if reopens else ""
        hint = f"Start the agent: cockpit start {agent.name}{resume}"
    return NotNow(f"No handoff of {agent.name} is waiting for your answer", detail, hint)


def same_handoff(agent: Agent, seen: str | None) -> None:
    """Raise `NotNow` if the handoff in progress is not `seen`, the one that the user answered."""
    if seen is not None and agent.handoff_record is not None and agent.handoff_record.id != seen:
        raise NotNow(
            f"{agent.name} has a different question now",
            "The handoff that you answered is over.",
            "Check the agent's status, then answer again.",
        )

"""`cockpit handoff`: hand an agent's job to a new session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cockpit.config.same_paths import same_path
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.handoff.details import HeldBack
from cockpit.core.handoff.events import Hurried, Turn
from cockpit.core.handoff.events import Moved as MovedAway
from cockpit.core.handoff.states import PHASES, Asked, Moving, Reviewing, is_revocable
from cockpit.core.ids import NAME_PATTERN, model_name
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.ownership import checked_document
from cockpit.supervisor.api.verbs.answers import same_handoff
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.options import HandoffOptions
from cockpit.supervisor.handoff.target import Target
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.history.arrived_chain import confirm_arrival
from cockpit.wire.verbs import (
    Done,
    Handoff,
    Moved,
)


class HandoffHandler:
    """Begins a handoff, or speeds up the one in progress (`Handoff`). Holds the agent's lock."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        triggers: Triggers,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._triggers = triggers
        self._changed = changed

    async def __call__(self, asked: Handoff) -> Done:
        """Begin a handoff, or approve or speed up the one in progress.

        With `dry_run`, only describes the handoff. A handoff that the user requests begins without
        a question, unless the new session's CLI lacks the current permission mode. If no question
        is asked and the agent's mode is auto, the document is not reviewed.
        """
        agent = self._agent_to_hand_off(asked)
        given = await checked_document(
            self._dependencies, agent, asked.document, by_agent=asked.by_agent
        )
        target = await self._target(agent, asked)
        if asked.dry_run:
            usual = target or await self._engine.targets.configured(agent)
            return await self._would_do(agent, asked, usual)
        if not agent.alive:
            raise NotNow(
                f"{agent.name} is not running",
                "There is no running session to hand off.",
                f"Start the agent: cockpit start {agent.name}",
            )
        if asked.by_agent and given is not None and await self._is_draft(agent, given):
            await self._engine.look(agent)
            return Done(
                message=f"cockpit has this document; the handoff of {agent.name} continues when "
                "the turn ends",
                name=agent.name,
            )
        because = self._guarded(agent, asked) if asked.by_agent else None
        if agent.handoff is not None and isinstance(agent.handoff.state, Asked):
            return await self._approve(agent, asked, target)
        if agent.handoff is not None and target is not None:
            await self._engine.retarget(agent, target)  # raises with the next step
        if asked.now and agent.handoff is not None and is_revocable(agent.handoff):
            return await self._hurry(agent)
        return await self._begin(agent, asked, given, target, because)

    def _agent_to_hand_off(self, asked: Handoff) -> Agent:
        """Return the agent.

        Raises `NotNow` if the agent has no session, or if the user answered a question that is no
        longer open.
        """
        agent = self._fleet.agent(asked.name)
        if agent.session is None or agent.job is None:
            raise NotNow(
                f"{agent.name} was never started",
                "There is no session to hand off.",
                f"Start the agent: cockpit start {agent.name}",
            )
        same_handoff(agent, asked.handoff)
        if asked.handoff is not None and agent.handoff is None:
            raise NotNow(
                f"{agent.name} has no open question",
                "The handoff that you answered is over.",
                f"To hand off again: cockpit handoff {agent.name}",
            )
        return agent

    async def _target(self, agent: Agent, asked: Handoff) -> Target | None:
        """Return the target for the CLI, model or host that the request names; None if it names
        none."""
        model_name(asked.model or "")
        if asked.host is not None:
            _check_move(agent, asked)
            return self._engine.targets.elsewhere(agent, asked.to or "")
        if asked.to or asked.model:
            return await self._engine.targets.checked(agent, asked.to or "", asked.model or "")
        return None

    async def _approve(self, agent: Agent, asked: Handoff, target: Target | None) -> Done:
        """Approve the handoff about which the user is being asked."""
        if asked.by_agent:
            raise NotNow(
                f"A handoff of {agent.name} is waiting for the user",
                "Only the user can approve the handoff.",
                "Continue your work.",
            )
        if target is not None and (why := await self._engine.retarget(agent, target)):
            return Done(
                message=f"{why}. Allow the handoff: cockpit approve {agent.name}", name=agent.name
            )
        await self._engine.approve(agent, None, straight=False)
        if asked.now:
            await self._engine.apply(agent, Hurried(self._dependencies.clock.monotonic()))
        clause = interruption_clause(agent, at_once=asked.now)
        return Done(message=f"Approved: handing off {agent.name}{clause}", name=agent.name)

    async def _hurry(self, agent: Agent) -> Done:
        """Let the handoff in progress interrupt the turn instead of waiting for its end."""
        if agent.handoff is not None and isinstance(agent.handoff.state, Reviewing):
            message = (
                f"The handoff of {agent.name} will not wait for the end of the turn. Approve "
                f"its document first: cockpit approve {agent.name}"
            )
        else:
            clause = interruption_clause(agent, at_once=True)
            message = f"Handing off {agent.name} without waiting{clause}"
        await self._engine.apply(agent, Hurried(self._dependencies.clock.monotonic()))
        await self._engine.look(agent)
        return Done(message=message, name=agent.name)

    async def _begin(
        self,
        agent: Agent,
        asked: Handoff,
        given: str | None,
        target: Target | None,
        because: HeldBack | None,
    ) -> Done:
        """Begin a handoff. Raises `NotNow` if one is in progress.

        `given` is the document that the request names. `because` is why the user must approve.
        """
        interrupts = interruption_clause(agent, at_once=asked.now)
        review = agent.settings.mode != "auto" or because is not None
        options = HandoffOptions(
            reason="agent" if asked.by_agent else "manual",
            ask=because is not None,
            review=review,
            because=because,
            now=asked.now,
            given=given,
            to=target,
            move_to=asked.host or "",
        )
        record = await self._engine.begin(agent, options)
        await self._engine.look(agent)
        then = "you review the document before the session ends" if review else "no review"
        if because is None and record.details.because is not None:
            then = (
                f"{record.details.because.words}. Allow the handoff: cockpit approve {agent.name}"
            )
        where = f" to {asked.host or asked.to}" if asked.host or asked.to else ""
        message = f"Handing off {agent.name}{where}{interrupts}; {then}"
        return Done(message=message, name=agent.name, document=record.id)

    async def moved(self, asked: Moved) -> Done:
        """End the session of a job that continues on another machine.

        With `arrived`, the job was moved from another machine to this one: only records the
        arrival.
        """
        agent = self._fleet.agent(asked.name)
        if asked.arrived:
            confirm_arrival(self._dependencies, agent, asked.handoff)
            self._changed(agent)
            return Done(message=f"{agent.name} continues the moved job", name=agent.name)
        same_handoff(agent, asked.handoff)
        await self._engine.look(agent)  # the agent may have worked since the last observation
        if agent.handoff is None or not isinstance(agent.handoff.state, Moving):
            raise NotNow(
                f"{agent.name} is not being moved",
                "The handoff has ended, or is not ready for the move. No session was ended.",
                f"See: cockpit history {agent.name}",
            )
        if agent.alive and agent.session_state.activity.turn is Turn.WORKING:
            raise NotNow(
                f"{agent.name} is working again",
                "The agent got a prompt while the job was being moved. No session was ended.",
                "Try again when the agent's turn has ended.",
            )
        where = agent.handoff.plan.move_to
        await self._engine.apply(agent, MovedAway())
        return Done(message=f"{agent.name} was moved to {where}", name=agent.name)

    async def _is_draft(self, agent: Agent, given: str) -> bool:
        """Return whether the path is the document that cockpit requested in this handoff."""
        draft = agent.progress.details.draft if agent.handoff is not None else None
        if draft is None:
            return False
        compare = partial(same_path, given, draft)
        return await read_document(self._dependencies, Path(given), compare)

    def _guarded(self, agent: Agent, asked: Handoff) -> HeldBack | None:
        """Return why the user must approve a handoff that an agent requests; None if not needed.

        Raises `NotNow` if no handoff may begin, by the limits of automatic handoffs. Also raises
        `NotNow` while the handoff in progress waits for the user, because an agent cannot approve
        it.
        """
        held = agent.progress.details.because
        state = agent.handoff.state if agent.handoff is not None else None
        if held and isinstance(state, Asked | Reviewing):
            raise NotNow(
                f"A handoff of {agent.name} is waiting for the user",
                f"{held.words}. Only the user can approve the handoff.",
                "Continue your work.",
            )
        why = self._triggers.objection(agent) if agent.handoff is None else None
        if why is not None:
            raise NotNow(f"{agent.name} cannot hand off now", why, "Continue your work.")
        allowed = (None, agent.runtime.name, *agent.settings.handoff.successor)
        if asked.to not in allowed:
            return HeldBack("handoff", f"{agent.name} wants to continue in {asked.to}")
        if asked.model not in (None, "", agent.settings.model):
            return HeldBack("handoff", f"{agent.name} wants to continue with {asked.model}")
        return self._triggers.question(agent)

    def _successor_lines(self, agent: Agent, target: Target) -> list[str]:
        lines = [f"the new session will run in {target.runtime}"] if target.runtime else []
        lines += [f"the new session's model will be {target.model}"] if target.model else []
        if question := self._engine.targets.mode_question(agent, target):
            lines.append(f"cockpit asks you first: {question}")
        return lines

    async def _would_do(self, agent: Agent, asked: Handoff, target: Target) -> Done:
        why = self._triggers.held_back(agent)
        text = await self._engine.preview(agent, asked.document, by_agent=asked.by_agent)
        question = None if asked.host else self._engine.targets.mode_question(agent, target)
        may_begin = agent.handoff is None and self._triggers.objection(agent) is None
        guarded = self._guarded(agent, asked) if asked.by_agent and may_begin else None
        reviewed = agent.settings.mode != "auto" or question or guarded
        lines = [
            f"Would hand off {agent.name}: session {agent.record.session}",
            f"writers: {', '.join(self._engine.writers(agent))}",
            "you review the document before the session ends"
            if reviewed
            else "no review: the agent's mode is auto",
        ]
        lines += [f"cockpit asks you first: {guarded.words}"] if guarded else []
        lines += self._successor_lines(agent, target)
        lines += [f"note: {why}"] if why else []
        lines += (
            [clause.removeprefix("; ")]
            if (clause := interruption_clause(agent, at_once=asked.now))
            else []
        )
        return Done(message="\n".join(lines), name=agent.name, text=text)


def _check_move(agent: Agent, asked: Handoff) -> None:
    """Raise `BadUsage` or `NotNow` if the job cannot be moved to another machine."""
    if not NAME_PATTERN.fullmatch(asked.host or ""):
        raise BadUsage(
            f"{asked.host!a} is not a valid host name",
            hint="Use 1 to 32 characters: a-z, 0-9, dot, underscore, dash; "
            "begin with a letter or digit.",
        )
    if asked.by_agent:
        raise NotNow(
            f"Only the user can move {agent.name} to another machine",
            "An agent sent this request.",
            f"Ask the user: cockpit move {agent.name} --to {asked.host}",
        )
    if agent.handoff is not None:
        raise NotNow(
            f"A handoff of {agent.name} is already in progress",
            f"Current phase: {PHASES.get(type(agent.handoff.state), 'ended')}.",
            f"Wait, or refuse the handoff: cockpit refuse {agent.name}",
        )


def interruption_clause(agent: Agent, *, at_once: bool) -> str:
    """Return a clause that lists the work that a handoff interrupts.

    Empty if the agent is idle, or if the handoff waits for the end of the turn.
    """
    if not at_once:
        return ""
    session_state = agent.session_state
    tools = [safe_line(tool, 80) for tool in session_state.reading.running.names]
    agents = [safe_line(name, 80) for name in session_state.activity.subagents.values()]
    ends = [f"the running tool {tool}" for tool in tools]
    ends += [f"the subagent {name}" for name in agents]
    if not ends and session_state.activity.turn is Turn.WORKING:
        ends = [f"its turn ({safe_line(session_state.activity.doing or 'thinking', 80)})"]
    return f"; this interrupts {', '.join(ends)}" if ends else ""

"""Observe an agent, its pane and its directory, for the rules of a handoff.

Changes nothing; only remembers the last observation of each draft. Observations that start a
process (git, a capture of the pane) are made only in the states that need them.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from cockpit.adapters.documents.files import DraftSeen
from cockpit.core import document
from cockpit.core.bands import Band
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Draft, Observation, Turn
from cockpit.core.handoff.states import (
    Confirming,
    Documenting,
    Handoff,
    Settling,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.core.prompt_files import prompt_files
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.policy import Guards

READY_STATES = (Waiting, Settling)
OUR_SKILLS = ("/cockpit:", "/handoff")
"""Prefixes of prompts that request the handoff itself."""


class Observer:
    """Observes agents whose handoff is in progress."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._guards = Guards(dependencies)
        self._drafts: dict[str, DraftSeen] = {}

    async def observe(self, agent: Agent, handoff: Handoff, queue: str | None) -> Observation:
        """Return the current observation for this handoff."""
        now = self._dependencies.clock.monotonic()
        if isinstance(handoff.state, Stopping | Starting | Confirming):
            return self._successor(agent, now)
        activity = agent.session_state.activity
        ready = isinstance(handoff.state, READY_STATES)
        draft: Draft = Draft.ABSENT
        problems: tuple[str, ...] = ()
        if isinstance(handoff.state, Documenting) and not handoff.state.composing:
            draft, problems = await self._dependencies.slow.ask(
                ("draft", agent.name), partial(self._draft, agent)
            )
        return Observation(
            now=now,
            turn=activity.turn if agent.alive else Turn.UNKNOWN,
            composer_clean=await self._composer(agent) if ready else None,
            tool_running=bool(agent.session_state.reading.running),
            subagents=tuple(activity.subagents.values()),
            git_busy=await self._git_busy(agent) if ready else None,
            forced=agent.band is Band.FORCE or self._overdue(agent, handoff),
            tokens=agent.session_state.gauge.tokens,
            compactions=agent.session_state.reading.meter.compactions,
            queue=queue,
            delivered=self._delivered(agent),
            user_prompted=user_prompted(agent),
            moved=moved(agent),
            predecessor_alive=agent.alive,
            draft=draft,
            problems=problems,
        )

    def _overdue(self, agent: Agent, handoff: Handoff) -> bool:
        """Return whether the session has exceeded its time limit and the grace period."""
        limits = agent.settings.limits
        if handoff.plan.reason != "limit" or not limits.session_time or agent.session is None:
            return False
        return self._guards.age(agent) > limits.session_time + limits.grace

    def _successor(self, agent: Agent, now: float) -> Observation:
        session_state = agent.session_state
        return Observation(
            now=now,
            successor_alive=agent.alive,
            successor_replied=session_state.replied,
            successor_dialog=session_state.activity.turn is Turn.DIALOG
            or bool(agent.troubles.dialog),
        )

    async def _composer(self, agent: Agent) -> bool | None:
        if not agent.alive or agent.record.pane is None:
            return None
        if agent.session_state.activity.turn is not Turn.IDLE:
            return None
        try:
            screen = await self._dependencies.panes.capture(agent.record.pane)
        except CockpitError:
            return None
        clean = agent.runtime.composer(screen)
        # Text from our own interrupted paste was not typed by the user.
        return True if clean is False and is_typing(agent) else clean

    async def _git_busy(self, agent: Agent) -> str | None:
        return await self._dependencies.worktrees.busy(agent.directory)

    def _delivered(self, agent: Agent) -> bool:
        token = draft_token(agent)
        return bool(token) and agent.has_received(token)

    def _draft(self, agent: Agent) -> tuple[Draft, tuple[str, ...]]:
        """Return the draft's state and problems.

        The draft is stable if two consecutive observations are equal.
        """
        path = draft_path(agent)
        if path is None or agent.handoff_record is None:
            return Draft.ABSENT, ()
        key = agent.handoff_record.id
        try:
            seen = self._dependencies.documents.look_at_draft(path)
        except CockpitError as refused:
            return Draft.INVALID, (str(refused),)
        before, self._drafts[key] = self._drafts.get(key), seen
        if seen.signature is None:
            return Draft.ABSENT, ()
        if before is None or before.signature != seen.signature:
            return Draft.UNSTABLE, ()
        problems = tuple(
            problem.text for problem in document.validate(seen.text or "") if not problem.mends
        )
        return (Draft.INVALID, problems) if problems else (Draft.VALID, ())

    def forget(self, handoff: str) -> None:
        self._drafts.pop(handoff, None)


def draft_path(agent: Agent) -> Path | None:
    """Return the path of the draft for the agent to write; None if no handoff is in progress."""
    if agent.handoff_record is None:
        return None
    path = agent.handoff_record.details.draft
    return Path(path) if path else None


def draft_token(agent: Agent) -> str:
    """Return the draft's file name; empty if no handoff is in progress.

    The name contains the handoff's id, so a prompt that contains this name was sent by cockpit.
    """
    path = draft_path(agent)
    return path.name if path else ""


def is_typing(agent: Agent) -> bool:
    """Return whether cockpit has begun to paste a request, but has not pressed Enter yet.

    Stays true if the supervisor is killed in between, or if pasting fails.
    """
    return agent.handoff_record is not None and agent.handoff_record.details.typing


def user_prompted(agent: Agent) -> bool:
    """Return whether the user sent a prompt after the handoff began. Ignores cockpit's prompts."""
    record = agent.handoff_record
    if record is None:
        return False
    token = draft_token(agent)
    since = began(record)
    prompts = (text for at, text in agent.session_state.user_prompts if at > since)
    return any(
        token not in text
        and not text.lstrip().startswith(OUR_SKILLS)
        and not prompt_files(text)  # our own first prompt
        for text in prompts
    )


def began(record: HandoffRecord) -> float:
    """Return when the handoff began, in seconds of `Clock.steady`."""
    at = record.details.began
    return record.created if at is None else at


def moved(agent: Agent) -> bool:
    """Return whether the agent sent an API request after the document was sealed."""
    record = agent.handoff_record
    sealed = record.details.sealed_calls if record else None
    return sealed is not None and agent.session_state.reading.meter.api_calls > sealed

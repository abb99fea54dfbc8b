"""Follow the agents' transcripts.

Checks them 25 times a second while any agent is working, else twice a second. Reads on threads, so
that one file system that hangs does not block the other agents.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence

from cockpit.adapters.transcripts.tail import Fetched, Tail, Unreadable
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.events import Plain
from cockpit.core.handoff.events import Turn
from cockpit.core.session import SessionEvent, Skipped
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.agent_clock import clock_offset
from cockpit.supervisor.observe.agent_errors import safely

HOT = 0.04
"""Seconds between two checks of the transcripts while any agent is working or starting."""
CALM = 0.5
"""Seconds between two checks of the transcripts while no agent is working."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The new part of an agent's transcript, or the error of reading it."""

    agent: Agent
    tail: Tail
    answer: Fetched | Unreadable | Exception | None


class Transcripts:
    """Calls `consider` for each agent whose transcript has grown."""

    def __init__(
        self,
        dependencies: Dependencies,
        agents: Callable[[], Iterable[Agent]],
        consider: Callable[[Agent], Awaitable[None]],
        compacted: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._consider = consider
        self._compacted = compacted
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Make `follow` check the transcripts now."""
        self._wake.set()

    async def follow(self) -> None:
        """Follow the transcripts of all agents, until cancelled."""
        while True:
            hot = False
            self._wake.clear()
            watched = [
                agent for agent in self._agents() if agent.alive or agent.handoff is not None
            ]
            for agent in watched:
                hot = (
                    hot or agent.session_state.conduct.turn is Turn.WORKING or self._starting(agent)
                )
            for fetched in await self._fetch(watched):
                await safely(fetched.agent, "transcript", self._apply_and_consider(fetched))
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HOT if hot else CALM):
                    await self._wake.wait()

    def _starting(self, agent: Agent) -> bool:
        return not agent.session_state.replied

    async def _apply_and_consider(self, fetched: _Fetched) -> None:
        session_state = fetched.agent.session_state
        before = session_state.reading.unreadable
        if self._apply(fetched) or session_state.reading.unreadable != before:
            await self._consider(fetched.agent)

    async def read_once(self, agent: Agent) -> bool:
        """Process the next part of the agent's transcript; return False if there was none."""
        fetched = await self._fetch([agent])
        if not fetched:
            return False
        return self._apply(fetched[0]) or bool(fetched[0].tail.behind)

    async def read_to_end(self, agent: Agent, seconds: float) -> bool:
        """Process the rest of the agent's transcript; return False if `seconds` were not enough."""
        until = self._dependencies.clock.monotonic() + seconds
        while await self.read_once(agent):
            if self._dependencies.clock.monotonic() > until:
                return False
        return True

    async def read_until_quiet(self, agent: Agent, quiet: float, seconds: float) -> None:
        """Process the agent's transcript until it has not grown for `quiet` seconds.

        Takes at most about `seconds`. The CLI writes its last reply later than it calls its hooks.
        Raises nothing; an error is recorded.
        """
        await safely(agent, "transcript", self._read_until_quiet(agent, quiet, seconds))

    async def _read_until_quiet(self, agent: Agent, quiet: float, seconds: float) -> None:
        clock = self._dependencies.clock
        now = grown = clock.monotonic()
        end = now + seconds
        while now < min(end, grown + quiet):
            if await self.read_once(agent):
                grown = clock.monotonic()
            else:
                await clock.sleep(HOT)
            now = clock.monotonic()

    async def _fetch(self, agents: Iterable[Agent]) -> list[_Fetched]:
        """Read transcripts on threads: a file system that hangs must not block other agents."""
        tails = [
            (agent, tail)
            for agent in agents
            if (tail := agent.session_state.reading.tail) is not None
        ]
        answers = await self._dependencies.slow.each({tail: tail.fetch for _, tail in tails})
        return [_Fetched(agent, tail, answers[tail]) for agent, tail in tails]

    def _apply(self, fetched: _Fetched) -> bool:
        agent, tail, answer = fetched.agent, fetched.tail, fetched.answer
        if tail is not agent.session_state.reading.tail:
            return False  # another session began
        if isinstance(answer, NoAnswer):
            agent.session_state.reading.unreadable = (
                f"does not answer: its file system hangs ({tail.path.parent})"
            )
            return False
        if isinstance(answer, Exception):
            raise answer
        restarts, compactions = tail.restarts, agent.session_state.reading.meter.compactions
        events = tail.take(answer)
        agent.session_state.reading.unreadable = tail.unreadable
        if tail.restarts != restarts:
            agent.begin_transcript(tail)
        if tail.behind:
            self._wake.set()  # read the next part after the parts of other agents
        if events:
            self._take_events(agent, events, compactions)
        if isinstance(answer, Fetched) and tail.offset and not tail.behind:
            agent.session_state.caught_up()
        return bool(events)

    def _take_events(
        self, agent: Agent, events: Sequence[SessionEvent | Skipped], compactions: int
    ) -> None:
        now = self._dependencies.clock.steady()
        agent.read(events, now, clock_offset(self._dependencies.clock, agent))
        self._drop_taken_prompt(agent)
        if (
            agent.session_state.reading.meter.compactions > compactions
            and not agent.session_state.catching_up
        ):
            self._compacted(agent)

    def _drop_taken_prompt(self, agent: Agent) -> None:
        """Remove prompt files that the CLI has read, and report a file that it did not read."""
        session_state = agent.session_state
        if agent.record.run and (taken := session_state.prompt_files_taken):
            self._dependencies.prompts.taken(agent.record.run, taken)
            taken.clear()
        if session_state.replied and session_state.prompt_files_named:
            session_state.prompt_files_named.clear()
            if not session_state.catching_up:
                self._record_unread_prompt(agent)

    def _record_unread_prompt(self, agent: Agent) -> None:
        text = (
            "the CLI did not read the first prompt: a permission rule may deny Read for "
            f"{self._dependencies.places.prompts}. Allow that folder, or send the prompt yourself: "
            f"cockpit send {agent.name}"
        )
        self._dependencies.store.save_agent(agent.change(note=text))
        self._dependencies.event_log.record(
            Plain("agent.prompt_not_read"), f"{agent.name}: {text}", agent.name
        )

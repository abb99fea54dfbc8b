"""Follow the agents' transcripts.

A transcript is read when the kernel reports a write to the file (inotify). All transcripts are
checked twice a second, because another machine's writes to a network file system are not reported.
A transcript that cannot be watched is checked 25 times a second while its agent works or starts.
Reads run on threads, so that a file system that hangs does not block the other agents.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

from cockpit.adapters.files.written_files import WrittenFiles, watch_written
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
"""Seconds between two checks while an agent without a watched transcript works or starts."""
CALM = 0.5
"""Seconds between two checks of all transcripts."""
GAP = 0.04
"""Minimum seconds between two reads, unless a hook reports something, because a CLI writes several
lines in a row."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The new part of an agent's transcript, or the error of reading it."""

    agent: Agent
    tail: Tail
    answer: Fetched | Unreadable | Exception | None


class Transcripts:
    """Reads the agents' transcripts.

    Calls `consider` for each agent whose transcript has grown, or became readable or unreadable.
    """

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
        self._written: set[Path] = set()
        """Transcripts to read next."""
        self._check_now = asyncio.Event()
        """Set when all transcripts must be checked, without waiting for `GAP`."""
        self._watch: WrittenFiles | None = None

    def wake(self) -> None:
        """Make `follow` check all transcripts now."""
        self._check_now.set()
        self._wake.set()

    def _were_written(self, files: set[Path] | None) -> None:
        if files is None:
            self.wake()
        elif files:
            self._written |= files
            self._wake.set()

    async def follow(self) -> None:
        """Follow the transcripts of all agents, until cancelled."""
        self._watch = watch_written()
        stop = self._watch.follow(self._were_written) if self._watch is not None else None
        try:
            await self._follow()
        finally:
            self._watch = None
            if stop is not None:
                stop()

    async def _follow(self) -> None:
        loop, next_check = asyncio.get_running_loop(), 0.0
        while True:
            self._wake.clear()
            written, self._written = self._written, set()
            watched = [
                agent for agent in self._agents() if agent.alive or agent.handoff is not None
            ]
            if self._check_now.is_set() or loop.time() >= next_check:
                self._check_now.clear()
                next_check = loop.time() + CALM
                await self._watch_files(watched)
                chosen = watched
            else:
                chosen = [agent for agent in watched if self._is_due(agent, written)]
            for fetched in await self._fetch(chosen):
                await safely(fetched.agent, "transcript", self._apply_and_consider(fetched))
            ended = loop.time()
            hot = any(self._is_hot(agent) for agent in watched)
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(ended + HOT if hot else next_check):
                    await self._wake.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(ended + GAP):
                    await self._check_now.wait()

    async def _watch_files(self, agents: Iterable[Agent]) -> None:
        """Watch exactly the transcripts of these agents."""
        watch = self._watch
        if watch is None:
            return
        files = {tail.path for agent in agents if (tail := agent.session_state.reading.tail)}
        watch.keep(files)
        missing = [file for file in files if not watch.has(file)]
        # Try again to watch the missing files: the folder of a file may not have existed before.
        answers = await self._dependencies.slow.each(
            {("watch", file): partial(watch.add, file) for file in missing}
        )
        if any(answer is None for answer in answers.values()):
            self.wake()  # read the lines that were written before the watch began

    def _is_due(self, agent: Agent, written: Collection[Path]) -> bool:
        """Return whether the agent's transcript was written, or must be checked every `HOT` s."""
        tail = agent.session_state.reading.tail
        return tail is not None and (tail.path in written or self._is_hot(agent))

    def _is_hot(self, agent: Agent) -> bool:
        tail = agent.session_state.reading.tail
        if self._watch is not None and (tail is None or self._watch.has(tail.path)):
            return False
        return agent.session_state.activity.turn is Turn.WORKING or self._starting(agent)

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

        Needed because a CLI writes its last reply later than it calls its hooks. Takes at most
        about `seconds`. Does not raise: an error is shown on the agent's row.
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
        agent.session_state.reading.answers_late = isinstance(answer, NoAnswer)
        if isinstance(answer, NoAnswer):
            agent.session_state.reading.unreadable = (
                "does not answer: the machine is busy, or its file system hangs"
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
            self._were_written({tail.path})  # read the next part after the parts of other agents
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
        """Remove prompt files that the CLI has read; report a prompt file that was not read."""
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

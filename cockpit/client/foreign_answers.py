"""Check the answers of another machine, which may send anything; add `--host` to their commands.

If a host exceeds a limit, cockpit refuses only the answers of that host, with the reason. The
limits are far above the needs of a supervisor. The local supervisor is trusted and not limited.

`foreign_commands.py` adds `--host` to the commands that a supervisor names.
"""

from __future__ import annotations

from time import monotonic
from typing import TypeVar

from pydantic import BaseModel

from cockpit.core.errors import CockpitError, Failed
from cockpit.core.ids import NAME_PATTERN, SESSION_PATTERN
from cockpit.core.safetext import quoted, safe_line
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import AgentStatus, Status
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    DaySpent,
    ElsewhereCounted,
    Event,
    Happened,
    Resumed,
    Snapshot,
    WatchLine,
)
from cockpit.wire.worktrees import WorktreeStatus

BODY_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a whole response."""
LINE_BYTES = 8 * 1024 * 1024
"""Maximum bytes of one line of a stream: a snapshot of 1,000 agents has 2.5 MB."""
MOST_AGENTS = 1000
"""Maximum number of agents of one host."""
MESSAGE_SIZE = 256 * 1024
"""Maximum size of one agent or event. The size is the number of characters, plus 8 for each number
and 1 for each other value or list item."""
ANSWER_SIZE = 4 * 1024 * 1024
"""Maximum size of an answer about one agent, such as its pane or its facts, in the unit of
`MESSAGE_SIZE`."""
LARGEST_NUMBER = 10**15
"""Largest absolute value of a number in an answer."""
PIECES, PIECES_A_SECOND = 10_000.0, 1_000.0
"""Maximum pieces of data (HTTP chunks and lines) at once, and per second on average.

A host with 20 busy agents sends about 100 a second.
"""
PENALTY_SECONDS = 60.0
"""Seconds for which cockpit refuses all data from a host that sent too much."""
BYTES, BYTES_A_SECOND = 8.0 * BODY_BYTES, 4.0 * 1024 * 1024
"""Maximum bytes from one host at once, and per second on average."""
SLOWEST_BYTES_A_SECOND = 500.0
"""Minimum bytes per second at which a line must arrive. The time limit of a line also includes the
allowed silence."""
INVALID_LINES = 100
"""Maximum number of unreadable lines in a stream."""

Answer = TypeVar("Answer")


class Allowance:
    """A limit on the data from one host, for all connections together. Refills with time."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._pieces = PIECES
        self._bytes = BYTES
        self._filled_at = monotonic()

    def spend(self, pieces: int, size: int = 0) -> None:
        """Count received data. Raises `Failed` if the host has sent more than the limit."""
        self._pieces -= pieces
        self._bytes -= size
        if self._pieces < 0 or self._bytes < 0:
            self._fill()
            if self._pieces < 0 or self._bytes < 0:
                # Without this penalty, reading would go on as soon as the allowance has refilled a
                # little.
                self._pieces = min(self._pieces, -PENALTY_SECONDS * PIECES_A_SECOND)
                raise refused(self._host, "The host sends more data than cockpit accepts.")

    def check_body(self, size: int) -> None:
        """Raise `Failed` if a response is too large."""
        if size > BODY_BYTES:
            raise refused(self._host, f"The response has more than {BODY_BYTES >> 20} MB.")

    def check_line(self, size: int, seconds: float, silence: float | None) -> None:
        """Raise `Failed` for a line that is too long, or that arrives too slowly."""
        if size > LINE_BYTES:
            raise refused(self._host, f"The host sent a line of more than {LINE_BYTES >> 20} MB.")
        if silence is not None and seconds > silence + size / SLOWEST_BYTES_A_SECOND:
            raise refused(self._host, f"The host sent no complete message in {seconds:.0f} s.")

    def _fill(self) -> None:
        now = monotonic()
        seconds, self._filled_at = now - self._filled_at, now
        self._pieces = min(PIECES, self._pieces + seconds * PIECES_A_SECOND)
        self._bytes = min(BYTES, self._bytes + seconds * BYTES_A_SECOND)


class ForeignAnswers:
    """Checks the parsed messages of one host, and adds `--host` to their commands."""

    def __init__(self, host: str) -> None:
        # Imported here because the first frame of a screen without hosts does not need it.
        from cockpit.client.foreign_commands import ForeignCommands

        self._host = host
        self._commands = ForeignCommands(host)
        self.allowance = Allowance(host)

    def status(self, status: Status) -> Status:
        """Return the status, with `--host` added to its commands.

        Raises `Failed` for invalid names, too many agents, or values that are too large.
        """
        self.count("agents", len(status.agents), MOST_AGENTS)
        agents = [self.agent(agent) for agent in status.agents]
        self._check_size(status.model_copy(update={"agents": []}), MESSAGE_SIZE)
        return status.model_copy(update={"agents": agents})

    def line(self, line: WatchLine) -> WatchLine:
        """Return a line of an event stream, with `--host` added to its commands.

        Raises `Failed` as `status` does.
        """
        match line:
            case Snapshot():
                return line.model_copy(update={"status": self.status(line.status)})
            case Resumed():
                status = self.status(line.status)
                self.count("removed agents", len(line.forgotten), MOST_AGENTS)
                for name in line.forgotten:
                    self.name(name)
                return line.model_copy(update={"status": status})
            case AgentChanged():
                return line.model_copy(update={"agent": self.agent(line.agent)})
            case AgentForgotten():
                self.name(line.name)
            case ElsewhereCounted() | DaySpent():
                self._check_size(line, MESSAGE_SIZE)
            case Happened():
                self.event(line.event)
        return line

    def agent(self, agent: AgentStatus) -> AgentStatus:
        """Return the agent, with `--host` added to its commands. Raises `Failed` as `status`
        does."""
        self.name(agent.name)
        if agent.handoff and not SESSION_PATTERN.fullmatch(agent.handoff.id):
            raise self._refused(f"{quoted(agent.handoff.id, 80)} is not the id of a handoff.")
        last = agent.last_request
        if last and last.handoff and not SESSION_PATTERN.fullmatch(last.handoff):
            raise self._refused(f"{quoted(last.handoff, 80)} is not the id of a handoff.")
        self._check_size(agent, MESSAGE_SIZE)
        return self._commands.agent(agent)

    def event(self, event: Event) -> Event:
        if event.agent is not None:
            self.name(event.agent)
        self._check_size(event, MESSAGE_SIZE)
        return event

    def name(self, name: str) -> str:
        """Return an agent's name unchanged. Raises `Failed` for a name that no agent can have."""
        if not NAME_PATTERN.fullmatch(name):
            raise self._refused(f"{quoted(name, 80)} is not a valid agent name.")
        return name

    def chains(self, chains: list[HistoryChain]) -> list[HistoryChain]:
        """Return the history unchanged. Raises `Failed` for an invalid agent name or handoff id."""
        for chain in chains:
            self.name(chain.agent)
            for session in chain.sessions:
                idents = [handoff.id for handoff in session.handoffs]
                idents += [document.id for document in session.documents]
                for ident in (*idents, *filter(None, [session.handoff])):
                    if not SESSION_PATTERN.fullmatch(ident):
                        raise self._refused(f"{quoted(ident, 80)} is not the id of a handoff.")
        return chains

    def worktrees(self, trees: list[WorktreeStatus]) -> list[WorktreeStatus]:
        """Return the worktrees, with `--host` added to their commands.

        Raises `Failed` for an invalid agent name.
        """
        for tree in trees:
            if tree.agent is not None:
                self.name(tree.agent)
        return [self._commands.tree(tree) for tree in trees]

    def count(self, what: str, count: int, most: int) -> None:
        """Raise `Failed` if a host sent more than `most` objects of this kind."""
        if count > most:
            raise self._refused(f"The host sent {count:,} {what}; cockpit reads at most {most:,}.")

    def answer(self, answer: Answer) -> Answer:
        """Return an answer about one agent, with `--host` added to its commands.

        Raises `Failed` if the answer exceeds `ANSWER_SIZE`, or has a number above `LARGEST_NUMBER`.
        """
        self._check_size(answer, ANSWER_SIZE)
        return self._commands.answer(answer)

    def large_answer(self, answer: Answer) -> Answer:
        """Return an answer of any kind unchanged. Raises `Failed` if its size exceeds `BODY_BYTES`,
        or if it has a number above `LARGEST_NUMBER`."""
        self._check_size(answer, BODY_BYTES)
        return answer

    def _check_size(self, message: object, most: int) -> None:
        try:
            if _size(message) > most:
                raise self._refused(f"The host sent a message of more than {most >> 10} KB.")
        except OverflowError as error:
            raise self._refused(str(error)) from None

    def invalid_lines(self, count: int) -> None:
        """Raise `Failed` if `count`, the number of lines that cannot be read, exceeds
        `INVALID_LINES`."""
        if count > INVALID_LINES:
            raise self._refused("The host sends messages that cockpit cannot read.")

    def _refused(self, why: str) -> CockpitError:
        return refused(self._host, why)


def refused(host: str, why: str) -> CockpitError:
    """Return the error for an answer that exceeds a limit or is invalid."""
    name = safe_line(host, 32)
    return Failed(
        f"Refused the answer of {name}",
        why,
        f"Check which program answers on {name}: cockpit doctor --host {name}",
    )


def _size(value: object) -> int:
    """Return the size of a parsed value, in the unit of `MESSAGE_SIZE`.

    Raises `OverflowError` for a number above `LARGEST_NUMBER`.
    """
    kind = type(value)
    if kind is str:
        return len(value)  # type: ignore[arg-type]
    if value is None or kind is bool:
        return 1
    if kind is int or kind is float:
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:  # type: ignore[operator]
            raise OverflowError("The host sent a number that is too large.")
        return 8
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return len(value) + sum(map(_size, value))
    if isinstance(value, BaseModel):
        return sum(map(_size, vars(value).values()))
    if isinstance(value, str):
        return len(value)
    return 0

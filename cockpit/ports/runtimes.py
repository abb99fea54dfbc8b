"""What cockpit needs of a CLI that it runs: how to start it, read it, and speak to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from cockpit.core.ids import AgentName, SessionId
from cockpit.core.moments import Moment
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped, Usage
from cockpit.ports.panes import Launch, Screen


@dataclass(frozen=True, slots=True)
class Program:
    """A CLI that can be started: probed, not guessed."""

    path: Path
    version: str
    bundled: bool = False
    """It is the one that ships inside claude-agent-sdk."""


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """One session to start."""

    agent: AgentName
    session_id: SessionId
    run: str
    """The marker its processes carry in `COCKPIT_RUN`."""
    directory: Path
    prompt: str | None = None
    resume: bool = False
    """Reopen the session of that id instead of making it."""
    model: str = ""
    permission_mode: str = ""
    arguments: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The pane's environment before the runtime adds its own."""


class Activity(StrEnum):
    """What the CLI itself says that it does."""

    BUSY = "busy"
    IDLE = "idle"
    WAITING = "waiting"
    """A dialog is open: permission, question, trust."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Presence:
    """The CLI's own note of a live process."""

    activity: Activity
    waiting_for: str | None = None
    session_id: SessionId | None = None
    shells: bool | None = None
    """Whether shells run in the background; None where the note does not say."""
    updated: float | None = None
    """Unix seconds, as the CLI wrote them."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One hook or status-line report that the reporter left in the spool."""

    agent: AgentName
    event: str
    """The CLI's own name of the event (`Stop`, `PostToolUse`, `StatusLine`, …)."""
    payload: Mapping[str, Any]
    """What the CLI said, parsed; long texts cut."""
    at: float
    """Unix seconds when the reporter wrote it."""
    verdict: bool = False
    """A verdict was printed in answer to this event."""

    @property
    def session_id(self) -> str | None:
        value = self.payload.get("session_id")
        return value if isinstance(value, str) else None

    @property
    def subagent(self) -> bool:
        """It comes from inside a subagent, and says nothing about the main thread."""
        return bool(self.payload.get("agent_id"))


@dataclass(frozen=True, slots=True)
class Report:
    """What a status-line report says about context and money."""

    session_id: str | None = None
    transcript: Path | None = None
    model: str | None = None
    usage: Usage | None = None
    """None until the first reply, and after a compaction until the next."""
    window: int | None = None
    version: str | None = None
    """Of the CLI."""
    cost_usd: float | None = None
    limit_resets: float | None = None
    """When a usage limit that is used up begins anew; unix seconds, None while none is."""


@dataclass(frozen=True, slots=True)
class Aside:
    """What came of a question to a copy of a session."""

    text: str
    cost_usd: float | None = None
    """What it cost, as the CLI counts; None where it did not say."""
    problem: str = ""
    """Why there is no text; it may have cost something all the same."""


class Runtime(Protocol):
    """One kind of CLI. Reads and writes only its own files; never talks to a pane."""

    name: str
    has_readings: bool

    def program(self, environment: Mapping[str, str]) -> Program:
        """Find and probe the CLI (`--version`), the user's before the bundled one.

        Raises `ProgramMissing`. Probing is what makes it safe to end the old agent.
        """

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """The process that starts this session; writes the files it needs first."""

    def transcript(self, order: SessionOrder) -> Path | None:
        """Where this session's record will be; None if the CLI keeps none."""

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """One line of the record, without its newline. Never raises."""

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        """The window of a model by table, or an assumption."""

    def compacts_at(self, window: int, environment: Mapping[str, str]) -> int | None:
        """Tokens at which the CLI compacts by itself, by its formula; None if it does not."""

    def compaction_settings(self, environment: Mapping[str, str]) -> str:
        """What moves that point in an environment: equal strings, equal points."""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        """The CLI's own note of the process, if it keeps one and it is this process's."""

    def report(self, signal: Signal) -> Report | None:
        """What a status-line signal says; None for every other signal."""

    def moments(self, signal: Signal) -> Sequence[Moment]:
        """What a hook's signal tells of the session's conduct; empty for a subagent's."""

    def composer(self, screen: Screen) -> bool | None:
        """Whether the prompt box on the screen is empty; None where it cannot be told."""

    def first_dialog(self, screen: Screen) -> str | None:
        """What a dialog that stands before the session asks, with the next step; None if none."""

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Lay a text ready for the agent at its next tool boundary, or at its turn's end.

        At most one of the two arrives; without the second, the turn may end. False if this CLI
        has no such way.
        """

    def withdraw_ask(self, agent: AgentName) -> bool:
        """Take it back; False if it was delivered already, or never laid."""

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        """Lay facts ready for the next beginning of a session, or else for its next step.

        Given at most once; an earlier one that was not delivered is replaced. At a beginning
        means: after a compaction or a clear, in the same process. False if this CLI has no such
        way.
        """

    def withdraw_supplement(self, agent: AgentName) -> bool:
        """Take it back; False if it was delivered already, or never laid."""

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Let the agent write this one file with no dialog, in every permission mode.

        Nothing else is allowed by it. Idempotent. False if this CLI cannot.
        """

    def forbid_writing(self, agent: AgentName) -> None:
        """Take that back. Idempotent."""

    def hold_compaction(self, agent: AgentName) -> bool:
        """Have the next compaction wait until it is released, for some seconds at most.

        It is never refused: a request that does not fit the window cannot go on without one.
        False if this CLI cannot wait.
        """

    def release_compaction(self, agent: AgentName) -> bool:
        """Let the compaction go on; False if none was held."""

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """What a copy of the session, without tools, answers; the session is not touched.

        Costs a request with the whole context. Raises `Failed`, and `NotNow` where the CLI has
        no such way.
        """

    def resumable(self, order: SessionOrder) -> None:
        """Raise `BadUsage` or `NotNow` unless the order's session may be opened."""

"""The interface to a CLI that cockpit runs: start it, read its files, and give it texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from cockpit.core.capabilities import Capabilities
from cockpit.core.cli_events import CliEvent
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.dialogs import Answer as DialogAnswer
from cockpit.core.dialogs import Dialog, Step, Stuck
from cockpit.core.ids import AgentName, SessionId, model_name
from cockpit.core.permission import Modes, Rights
from cockpit.core.rate_limits import RateLimit
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped, Usage
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen


@dataclass(frozen=True, slots=True)
class Program:
    """A CLI that was found and can be started."""

    path: Path
    version: str
    bundled: bool = False
    """Whether the CLI is the copy inside claude-agent-sdk."""


@dataclass(frozen=True, slots=True)
class CompactionRule:
    """The CLI's formula for automatic compaction, with the settings of one session."""

    compacts_at: Callable[[int], int | None]
    """Returns the token count at which the CLI compacts, for a window; None for never."""
    settings: str = ""
    """The settings that affect `compacts_at`; equal strings mean equal results."""


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """A session to start or reopen. Raises `BadUsage` for a model whose name could be an option."""

    agent: AgentName
    session_id: SessionId
    """The CLI's id of the session. For a new session of a CLI that chooses ids itself: any id."""
    run: str
    """Value of `COCKPIT_RUN` in the environment of the session's processes."""
    directory: Path
    prompt: str | None = None
    resume: bool = False
    """Whether to reopen the session `session_id` instead of creating a session."""
    model: str = ""
    permission_mode: str = ""
    arguments: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The pane's environment, without the variables that the runtime adds."""
    documents: Path | None = None
    """Folder for the session's handoff documents, below `directory`. The folder may not exist."""
    offers_tools: bool = False
    """Whether to offer the agent cockpit's tools (MCP), if the CLI supports MCP servers for a run.
    """

    def __post_init__(self) -> None:
        model_name(self.model)


class Activity(StrEnum):
    """The activity of a CLI's session, as the CLI shows it."""

    BUSY = "busy"
    IDLE = "idle"
    WAITING = "waiting"
    """A dialog is open: it asks for a permission, for an answer, or whether to trust the folder."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Presence:
    """The status of a running CLI process, from the CLI's status file or the pane's title."""

    activity: Activity
    waiting_for: str | None = None
    session_id: SessionId | None = None
    shells: bool | None = None
    """Whether shells run in the background; None if unknown."""
    updated: float | None = None
    """When the CLI wrote the status, in unix seconds; None if unknown."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One hook or status-line report that the reporter (a shell script) wrote to the spool
    folder."""

    agent: AgentName
    event: str
    """The CLI's name of the event (`Stop`, `PostToolUse`, `StatusLine`, …)."""
    payload: Mapping[str, Any]
    """The CLI's payload, parsed; long texts are cut."""
    at: float
    """The time of the report, in Unix seconds."""
    verdict: bool = False
    """Whether the reporter answered the event with a response that the supervisor had prepared."""

    @property
    def session_id(self) -> str | None:
        value = self.payload.get("session_id")
        return value if isinstance(value, str) else None

    @property
    def subagent(self) -> bool:
        """Whether the signal comes from a subagent instead of the main thread."""
        return bool(self.payload.get("agent_id"))


@dataclass(frozen=True, slots=True)
class Report:
    """The tokens in context and the cost, from a report of the CLI's status line."""

    session_id: str | None = None
    transcript: Path | None = None
    model: str | None = None
    usage: Usage | None = None
    """Tokens of the last reply; None before the first reply, and between a compaction and the next
    reply."""
    window: int | None = None
    version: str | None = None
    """The CLI's version; None if the report does not have it."""
    cost_usd: float | None = None
    limit_resets: float | None = None
    """When all exhausted usage limits have reset, in unix seconds; None if no limit is exhausted,
    or if the time is unknown."""
    rate_limits: tuple[RateLimit, ...] = ()
    """The account's usage limits; empty if the report has none."""


@dataclass(frozen=True, slots=True)
class Aside:
    """The answer of a copy of a session to a question."""

    text: str
    cost_usd: float | None = None
    """The cost that the CLI reports; None if it reports none."""
    problem: str = ""
    """Why `text` is empty. Even then, the request may have had a cost."""


class Runtime(Protocol):
    """The adapter for one CLI. Never uses a pane.

    Other packages can implement this protocol (entry point `cockpit.runtimes`), so the protocol's
    names never change.
    """

    name: str
    capabilities: Capabilities
    modes: Modes
    """The rights of each permission mode, without rights that the CLI's own configuration adds."""
    tools: ToolNames

    def program(self, environment: Mapping[str, str]) -> Program:
        """Find the CLI, and run it with `--version`. Prefers the user's CLI to the bundled copy.

        Raises `ProgramMissing`. A handoff ends the old session only after this call succeeded.
        """

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return the process to start for this session. Writes the files that the process needs."""

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        """Return the permission mode for a job that comes from another CLI.

        In the other CLI, the job's mode has the name `mode` and the rights `rights`. See
        `core.permission.nearest`.
        """

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return the path of this session's transcript; None if there is none, or not yet known."""

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """Parse one line of the transcript, without its newline. Never raises."""

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        """Return the window of a model from the adapter's table, or an assumed window."""

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        """Read the settings of automatic compaction, as the CLI does when it starts."""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        """Return the status of this process from the CLI's status file; None without a file."""

    def open_session(self, pid: int, environment: Mapping[str, str]) -> SessionId | None:
        """Return the CLI session that this process or a child process has open.

        None if there is none, or several, or cockpit cannot prove which one is open. Also None for
        CLIs that report their sessions in another way.
        """

    def presence_in(self, title: str) -> Presence | None:
        """Return the CLI's status in the title of the agent's pane.

        None for a title without a status, and if the CLI lacks `Source.TITLE`.
        """

    def report(self, signal: Signal) -> Report | None:
        """Return the report in a status-line signal; None for every other signal."""

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        """Return the hook events in a signal; of a subagent, only its start, end and dialogs."""

    def screen_events(self, screen: Screen) -> Sequence[CliEvent]:
        """Return the hook events that a working CLI shows only on the screen.

        Empty if the CLI lacks `Source.SCREEN`.
        """

    def permission_mode(self, signal: Signal) -> str | None:
        """Return the permission mode in a hook's report; None if the report has no exact mode."""

    def reported_transcript(self, path: str, session: str) -> Path | None:
        """Return the path of the transcript that a hook reports; None for a path that cannot belong
        to this session."""

    def composer(self, screen: Screen) -> bool | None:
        """Return whether the prompt box on the screen is empty; None if unknown."""

    def first_dialog(self, screen: Screen) -> str | None:
        """Return the question of a dialog before the session starts, and the user's next step.

        None without a dialog.
        """

    def open_dialog(self, screen: Screen) -> Dialog | None:
        """Return the permission dialog or question on the screen.

        None without a dialog, for a dialog that is not recognised, and if the CLI lacks `answers`.
        """

    def dialog_step(self, seen: Dialog, answer: DialogAnswer) -> Step | Stuck:
        """Return the next key or text for an answer in the pane, or why cockpit cannot answer."""

    def lacks(self, agent: AgentName) -> str | None:
        """Return a message about setup that this CLI lacks for full support, with the next step.

        The message is for the agent's row. None if nothing is missing.
        """

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Give the agent the text `mid_turn` after its next tool call, or `at_end` after its turn.

        Only one of the two texts is delivered. Without `at_end`, the turn ends without a text.
        Returns False if this CLI does not support such texts.
        """

    def withdraw_ask(self, agent: AgentName) -> bool:
        """Withdraw the texts of `ask`; return False if one was delivered, or there are none."""

    def supplement(self, agent: AgentName, text: str, *, at_start: bool) -> bool:
        """Give the agent facts when its next session starts, or after its next tool call.

        With `at_start`, the agent gets the text when the next session starts. A compaction or
        `/clear` starts that session in the same process. The text is delivered at most once, and
        replaces an earlier text that was not delivered. Returns False if this CLI does not support
        such texts.
        """

    def withdraw_supplement(self, agent: AgentName) -> bool:
        """Withdraw the text of `supplement`; return False if it was delivered, or there is none."""

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Let the agent write this one file without a dialog, in every permission mode.

        Allows nothing else. Idempotent. Returns False if this CLI does not support such a
        permission.
        """

    def forbid_writing(self, agent: AgentName) -> None:
        """Revoke `permit_writing`. Idempotent."""

    def hold_compaction(self, agent: AgentName) -> bool:
        """Delay the next compaction until `release_compaction`, for some seconds at most.

        cockpit never blocks a compaction, because the next request may not fit the window
        otherwise. Returns False if this CLI does not support the delay.
        """

    def release_compaction(self, agent: AgentName) -> bool:
        """Let the delayed compaction continue; return False if none was delayed."""

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Ask a copy of the session a question, without tools. The session itself is not changed.

        Costs a request with the whole context. `deadline` is a time limit in seconds. Raises
        `Failed`, and `NotNow` if this CLI does not support copies of sessions.
        """

    def resumable(self, order: SessionOrder) -> None:
        """Raise `BadUsage` or `NotNow` if the order's session cannot be reopened."""

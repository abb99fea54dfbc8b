"""The runtime `claude`: start Claude Code, find its transcript, read its reports and answer its
hooks.

Combines the other modules of this package. Does not use panes, and never writes to the CLI's own
files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.adapters.agents.claude.capabilities import CAPABILITIES
from cockpit.adapters.agents.claude.composer import composer_empty
from cockpit.adapters.agents.claude.dialog_steps import next_step
from cockpit.adapters.agents.claude.dialogs import open_dialog
from cockpit.adapters.agents.claude.first_dialogs import first_dialog
from cockpit.adapters.agents.claude.fork import ForkOrder, ask_fork
from cockpit.adapters.agents.claude.permission_modes import MODES
from cockpit.adapters.agents.claude.plugin import TOOLS_RULE, install_plugin, install_tools
from cockpit.adapters.agents.claude.program import find_program
from cockpit.adapters.agents.claude.seen_presence import SeenPresence
from cockpit.adapters.agents.claude.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.agents.claude.settings import (
    config_folder,
    session_settings,
    user_status_line,
    write_settings,
)
from cockpit.adapters.agents.hook_answers import block
from cockpit.adapters.agents.hooked_runtime import HookedRuntime, refuse_reserved, without_tmux
from cockpit.adapters.agents.reporter import install_reporter
from cockpit.adapters.hooks.spool import STATUS_LINE
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.dialogs import Answer, Dialog, Step, Stuck
from cockpit.core.ids import AgentName
from cockpit.core.permission import nearest
from cockpit.core.prompt_files import is_slash_command, mention
from cockpit.core.rate_limits import RateLimit, exhausted_until
from cockpit.core.safetext import safe_line
from cockpit.core.session import Usage
from cockpit.core.timestamps import unix_time
from cockpit.core.tool_names import CLAUDE_TOOLS
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import (
    Aside,
    CompactionRule,
    Presence,
    Program,
    Report,
    SessionOrder,
    Signal,
)

if TYPE_CHECKING:
    from cockpit.core.cli_events import CliEvent
    from cockpit.core.permission import Rights
    from cockpit.core.reading import Window
    from cockpit.core.session import SessionEvent, Skipped

SCRUBBED = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
    }
)
"""Variables that a Claude Code session sets for its child processes. With them, the agent would run
as a child session."""


RESERVED_ARGUMENTS = {
    "--session-id": "cockpit sets the session's id",
    "--resume": "cockpit decides which session is opened",
    "-r": "cockpit decides which session is opened",
    "--continue": "cockpit decides which session is opened",
    "-c": "cockpit decides which session is opened",
    "--fork-session": "cockpit decides which session is opened",
    "--settings": "cockpit uses this option for its hooks and status line",
    "--print": "an agent is one interactive session",
    "-p": "an agent is one interactive session",
    "--background": "the option would run the agent outside its pane",
    "--bg": "the option would run the agent outside its pane",
    "--bare": "the option disables the hooks that cockpit needs",
    "--safe-mode": "the option disables the hooks that cockpit needs",
}
"""CLI arguments that the user may not set, each with the reason."""


class Claude(HookedRuntime):
    """The runtime `claude`. Stores its files below `state`, by agent name."""

    name = "claude"
    capabilities = CAPABILITIES
    modes = MODES
    tools = CLAUDE_TOOLS
    steps = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")

    def __init__(
        self, state: Path, *, program: Path | None = None, bundled_only: bool = False
    ) -> None:
        super().__init__(state, program=program)
        self._bundled_only = bundled_only
        self._presence = SeenPresence()

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the CLI to run; see `find_program`. Blocks for up to `PROBE_SECONDS`."""
        return find_program(environment, path=self._program, bundled_only=self._bundled_only)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch the CLI for a new or resumed session, with cockpit's hooks and
        status line.

        Creates the agent's spool and settings. Raises `BadUsage` for arguments that are not
        allowed.
        """
        refuse_reserved(order.arguments, RESERVED_ARGUMENTS)
        settings = self._settings(order)
        argv = [str(program.path)]
        argv += ["--resume" if order.resume else "--session-id", order.session_id]
        argv += ["--settings", str(settings), "--plugin-dir", str(install_plugin(self.state))]
        if order.offers_tools:
            argv += ["--plugin-dir", str(install_tools(self.state))]
        if order.permission_mode:
            argv += ["--permission-mode", order.permission_mode]
        if order.model:
            argv += ["--model", order.model]
        return Launch(
            argv=(*argv, *order.arguments),
            directory=order.directory,
            environment={
                **scrubbed(order.environment),
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            mention=mention,
            literal=is_slash_command(order.prompt or ""),
            prompt_folder=self.state / PROMPTS / order.run,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(self.modes, mode, rights)

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return the path of the session's transcript, or where it is expected; see `record_path`.

        Hooks and the status line report the exact path.
        """
        return record_path(order.session_id, order.directory, order.environment)

    def resumable(self, order: SessionOrder) -> None:
        """Raise `BadUsage` or `NotNow` unless the order's session can be resumed."""
        check_resumable(order.session_id, order.directory, order.environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        from cockpit.adapters.agents.claude.record import parse

        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        from cockpit.adapters.agents.claude.models import window

        return window(model, environment)

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        from cockpit.adapters.agents.claude.models import compaction_settings, compacts_at

        formula = partial(compacts_at, environment=environment)
        return CompactionRule(formula, compaction_settings(environment))

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        return self._presence.read(config_folder(environment), pid)

    def report(self, signal: Signal) -> Report | None:
        return status_report(signal.payload) if signal.event == STATUS_LINE else None

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        from cockpit.adapters.agents.claude.hook_events import cli_events

        return cli_events(signal)

    def permission_mode(self, signal: Signal) -> str | None:
        return _text(signal.payload.get("permission_mode"))

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(path, session)

    def composer(self, screen: Screen) -> bool | None:
        return composer_empty(screen)

    def first_dialog(self, screen: Screen) -> str | None:
        return first_dialog(screen)

    def open_dialog(self, screen: Screen) -> Dialog | None:
        return open_dialog(screen)

    def dialog_step(self, seen: Dialog, answer: Answer) -> Step | Stuck:
        return next_step(seen, answer)

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Queue a request; the model gets only one of the two texts. Returns True.

        `mid_turn` arrives after the next tool call. `at_end`, unless it is None, arrives at the end
        of the turn, which then continues. Subagents get neither text.
        """
        context = {
            event: self.context(event, mid_turn) for event in ("PostToolUse", "PostToolUseFailure")
        }
        stop = {"Stop": block("Stop", at_end)} if at_end is not None else {}
        self.responses.ask(agent, {**context, **stop})
        return True

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Return the answer of a copy of the session; see `fork.ask_fork`."""
        fork = ForkOrder(
            session=order.session_id,
            directory=str(order.directory),
            question=question,
            program=str(program.path),
            model=order.model,
            environment={**scrubbed(order.environment), "COCKPIT_RUN": order.run},
        )
        return await ask_fork(fork, deadline)

    def _settings(self, order: SessionOrder) -> Path:
        install_reporter(self.state)
        self.spool.prepare(order.agent)
        line = user_status_line(order.directory, order.environment, self.state)
        path = self.state / "settings" / f"{order.agent}.json"
        allowed = (TOOLS_RULE,) if order.offers_tools else ()
        write_settings(path, session_settings(self.state, order.agent, line, allowed))
        return path


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables of a surrounding Claude Code session or tmux."""
    return without_tmux(environment, SCRUBBED)


def status_report(payload: Mapping[str, Any]) -> Report:
    """Parse a status-line report; a field without a usable value is None or empty."""
    window = _mapping(payload.get("context_window"))
    limits = _rate_limits(_mapping(payload.get("rate_limits")))
    return Report(
        session_id=_text(payload.get("session_id")),
        transcript=reported_transcript(
            _text(payload.get("transcript_path")), _text(payload.get("session_id"))
        ),
        model=_text(_mapping(payload.get("model")).get("id")),
        usage=_usage(window.get("current_usage")),
        window=_count(window.get("context_window_size")) or None,
        version=_text(payload.get("version")),
        cost_usd=_amount(_mapping(payload.get("cost")).get("total_cost_usd")),
        limit_resets=exhausted_until(limits),
        rate_limits=limits,
    )


MOST_LIMITS = 8
"""Maximum number of usage limits; the CLI reports two or three."""


def _rate_limits(limits: Mapping[str, Any]) -> tuple[RateLimit, ...]:
    """Return the limits with a usable percentage, at most `MOST_LIMITS`."""
    parsed = [
        RateLimit(safe_line(name, 24), min(used / 100, 1.0), unix_time(limit.get("resets_at")))
        for name, value in limits.items()
        if (used := _amount((limit := _mapping(value)).get("used_percentage"))) is not None
    ]
    return tuple(parsed[:MOST_LIMITS])


def _usage(value: object) -> Usage | None:
    counts = _mapping(value)
    if not any(_count(count) for count in counts.values()):
        return None
    return Usage(
        input=_count(counts.get("input_tokens")) or 0,
        cache_creation=_count(counts.get("cache_creation_input_tokens")) or 0,
        cache_read=_count(counts.get("cache_read_input_tokens")) or 0,
        output=_count(counts.get("output_tokens")) or 0,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None


def _amount(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e10:
        return float(value)
    return None

"""The runtime `codex`: start Codex, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes, and never writes to Codex's own
files: hooks and their trust are arguments of one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.agents.codex.capabilities import CAPABILITIES
from cockpit.adapters.agents.codex.composer import composer_empty
from cockpit.adapters.agents.codex.copy_session import ask_copy
from cockpit.adapters.agents.codex.first_dialogs import first_dialog
from cockpit.adapters.agents.codex.hook_events import cli_events
from cockpit.adapters.agents.codex.hook_flags import hook_flags
from cockpit.adapters.agents.codex.models import compacts_at, window
from cockpit.adapters.agents.codex.other_sessions import open_session
from cockpit.adapters.agents.codex.permission_modes import MODES, permission_arguments
from cockpit.adapters.agents.codex.program import find_program
from cockpit.adapters.agents.codex.record import parse
from cockpit.adapters.agents.codex.sessions import (
    check_resumable,
    record_path,
    reported_transcript,
)
from cockpit.adapters.agents.codex.tool_flags import tool_flags
from cockpit.adapters.agents.copies_folder import copies_folder
from cockpit.adapters.agents.hook_answers import block
from cockpit.adapters.agents.hooked_runtime import HookedRuntime, refuse_reserved, without_tmux
from cockpit.adapters.agents.reporter import install_reporter
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.cli_events import CliEvent
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.permission import Rights, nearest
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, CompactionRule, Program, SessionOrder, Signal

RESERVED_ARGUMENTS = {
    "--daemon": "the option would run the agent outside its pane",
    "--remote": "the option would run the agent outside its pane",
    "--full-auto": "cockpit sets the permission mode; use the setting permission_mode",
    "--sandbox": "cockpit sets the permission mode; use the setting permission_mode",
    "-s": "cockpit sets the permission mode; use the setting permission_mode",
    "--ask-for-approval": "cockpit sets the permission mode; use the setting permission_mode",
    "-a": "cockpit sets the permission mode; use the setting permission_mode",
    "--dangerously-bypass-approvals-and-sandbox": "use the setting permission_mode",
    "--cd": "cockpit sets the directory",
    "-C": "cockpit sets the directory",
}
"""CLI arguments that the user may not set, each with the reason."""
CODEX_TOOLS = ToolNames(
    cli="Codex",
    read="a command such as `cat`",
    write="`apply_patch`",
    all=("exec_command", "apply_patch", "update_plan", "spawn_agent"),
)
COMMANDS = frozenset(
    {"a", "agents", "app-server", "apply", "archive", "cloud", "cloud-tasks", "completion", "debug"}
    | {"delete", "doctor", "e", "exec", "exec-server", "execpolicy", "features", "fork", "help"}
    | {"login", "logout", "mcp", "mcp-server", "migrate-nfs-db", "migrate-rollouts", "plugin"}
    | {"queue", "remote-control", "responses-api-proxy", "resume", "review", "sandbox"}
    | {"stdio-to-uds", "unarchive", "update"}
)
"""Codex's subcommands and aliases, including hidden ones (0.169.0), and `mcp-server` of other
versions."""


class Codex(HookedRuntime):
    """The runtime `codex`. Stores its files below `state`, by agent name.

    Codex writes no status file. The transcript shows when turns begin and end, and the permission
    mode. Hooks do not report the mode, only whether Codex may ask before it acts.
    """

    name = "codex"
    capabilities = CAPABILITIES
    modes = MODES
    tools = CODEX_TOOLS
    steps = ("UserPromptSubmit", "PostToolUse")

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the CLI to run; see `find_program`. Blocks for up to `PROBE_SECONDS`."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch Codex for a new or resumed session, with cockpit's hooks.

        Installs the reporter and creates the agent's spool. Without `--no-daemon`, the agent would
        run in a daemon that outlives the pane. Raises `BadUsage` for arguments that are not allowed
        and for modes that Codex does not have.
        """
        refuse_reserved(order.arguments, RESERVED_ARGUMENTS, COMMANDS)
        self.spool.prepare(order.agent)
        argv = [str(program.path), *(["resume"] if order.resume else []), "--no-daemon"]
        argv += hook_flags(install_reporter(self.state), self.state, order.agent)
        if order.offers_tools:
            argv += tool_flags()
        argv += permission_arguments(order.permission_mode)
        if order.model:
            argv += ["--model", order.model]
        argv += [*order.arguments]
        if order.resume:
            argv.append(order.session_id)
        return Launch(
            argv=argv,
            directory=order.directory,
            environment={
                **without_tmux(order.environment),
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            by_file=True,
            prompt_folder=self.state / PROMPTS / order.run,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(self.modes, mode, rights)

    def transcript(self, order: SessionOrder) -> Path | None:
        """Return the path of an existing session's transcript; None if there is no transcript.

        The first hook of a new session reports the path.
        """
        return record_path(order.session_id, order.environment)

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

    def open_session(self, pid: int, environment: Mapping[str, str]) -> SessionId | None:
        return open_session(pid, environment)

    def parse(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        return parse(line)

    def window(self, model: str | None, environment: Mapping[str, str]) -> Window:
        return window(model)

    def compaction_rule(self, environment: Mapping[str, str]) -> CompactionRule:
        return CompactionRule(compacts_at)

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        return cli_events(signal)

    def reported_transcript(self, path: str, session: str) -> Path | None:
        return reported_transcript(path, session)

    def composer(self, screen: Screen) -> bool | None:
        return composer_empty(screen)

    def first_dialog(self, screen: Screen) -> str | None:
        return first_dialog(screen)

    def ask(self, agent: AgentName, mid_turn: str, at_end: str | None) -> bool:
        """Queue a request; the model gets only one of the two texts. Returns True.

        `mid_turn` arrives after the next tool call. `at_end`, unless it is None, arrives at the end
        of the turn, which then continues.
        """
        answers = {"PostToolUse": self.context("PostToolUse", mid_turn)}
        if at_end is not None:
            answers["Stop"] = block("Stop", at_end)
        self.responses.ask(agent, answers)
        return True

    def permit_writing(self, agent: AgentName, path: Path) -> bool:
        """Return False: Codex cannot permit a single file.

        Codex's sandbox allows edits in the directory, except in `plan`.
        """
        return False

    def forbid_writing(self, agent: AgentName) -> None:
        return

    def hold_compaction(self, agent: AgentName) -> bool:
        """Return False: a Codex hook cannot delay a compaction, only end the turn."""
        return False

    def release_compaction(self, agent: AgentName) -> bool:
        return False

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Return the answer of a copy of the session; see `copy_session.ask_copy`."""
        order = replace(order, directory=copies_folder(self.state))
        # Processes that the copy starts get the agent's rights only.
        environment = {**without_tmux(order.environment), "COCKPIT_RUN": order.run}
        return await ask_copy(program.path, order, question, environment, deadline)

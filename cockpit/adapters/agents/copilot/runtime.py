"""The runtime `copilot`: start GitHub Copilot CLI, find its transcript, and answer its hooks.

Combines the other modules of this package. Does not use panes. The hooks are installed as a plugin,
for one run; the user's own files are not changed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.copies_folder import copies_folder
from cockpit.adapters.agents.copilot.capabilities import CAPABILITIES
from cockpit.adapters.agents.copilot.composer import composer_empty
from cockpit.adapters.agents.copilot.copy_session import ask_copy
from cockpit.adapters.agents.copilot.first_dialogs import first_dialog
from cockpit.adapters.agents.copilot.hook_events import cli_events
from cockpit.adapters.agents.copilot.models import compacts_at, window
from cockpit.adapters.agents.copilot.permission_modes import MODES, SURE_MODES, permission_arguments
from cockpit.adapters.agents.copilot.plugin import install_plugin
from cockpit.adapters.agents.copilot.program import find_program
from cockpit.adapters.agents.copilot.record import parse
from cockpit.adapters.agents.copilot.sessions import (
    TRANSCRIPT,
    check_resumable,
    reported_transcript,
    session_folder,
)
from cockpit.adapters.agents.hook_answers import block, bounded
from cockpit.adapters.agents.hooked_runtime import HookedRuntime, refuse_reserved, without_tmux
from cockpit.adapters.agents.own_command import SERVER
from cockpit.adapters.process.prompt_files import PROMPTS
from cockpit.core.cli_events import CliEvent
from cockpit.core.ids import AgentName
from cockpit.core.permission import Rights, nearest
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.core.reading import Window
from cockpit.core.session import SessionEvent, Skipped
from cockpit.core.tool_names import ToolNames
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Aside, CompactionRule, Program, SessionOrder, Signal

COPILOT_TOOLS = ToolNames(
    cli="GitHub Copilot CLI",
    read="your view tool",
    write="your create tool",
    all=("view", "create", "edit", "bash", "grep", "task"),
)

RESERVED_ARGUMENTS = {
    "--session-id": "cockpit chooses the session",
    "--resume": "cockpit chooses the session",
    "-r": "cockpit chooses the session",
    "--continue": "cockpit chooses the session",
    "--connect": "cockpit chooses the session",
    "--model": "cockpit sets the model; use the setting model",
    "--interactive": "cockpit sets the first prompt; use the setting prompt",
    "-i": "cockpit sets the first prompt; use the setting prompt",
    "--prompt": "an agent is one interactive session",
    "-p": "an agent is one interactive session",
    "--acp": "an agent is one interactive session",
    "--mode": "cockpit sets the permission mode; use the setting permission_mode",
    "--plan": "cockpit sets the permission mode; use the setting permission_mode",
    "--allow-all": "cockpit sets the permission mode; use the setting permission_mode",
    "--yolo": "cockpit sets the permission mode; use the setting permission_mode",
    "-C": "cockpit sets the directory",
}
"""CLI arguments that the user may not set, each with the reason."""
COMMANDS = frozenset({"app", "config", "init", "login", "mcp", "plugin", "sessions", "update"})
FLAGS = "s"
"""Short options without a value that are not reserved: `--silent` (1.0.102)."""


class Copilot(HookedRuntime):
    """The runtime `copilot`. Stores its files below `state`, by agent name.

    Copilot writes no status file. The transcript shows when turns begin and end, and the permission
    mode. A compaction starts no session, so after a compaction the model gets the session's facts
    at the next event in `steps`.
    """

    name = "copilot"
    capabilities = CAPABILITIES
    modes = MODES
    tools = COPILOT_TOOLS
    steps = ("UserPromptSubmit", "PostToolUse")

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the CLI to run; see `find_program`. Blocks for up to `PROBE_SECONDS`."""
        return find_program(environment, path=self._program)

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        """Return how to launch Copilot for a new or resumed session, with cockpit's hooks.

        Installs the plugin and the reporter, and creates the agent's spool. The first prompt is
        written to a private file, and the argument contains the file's path, because Copilot would
        read `!` or `/` at the beginning of a prompt as a command. Raises `BadUsage` for arguments
        that are not allowed and for modes that Copilot does not have.
        """
        refuse_reserved(order.arguments, RESERVED_ARGUMENTS, COMMANDS, FLAGS)
        self.spool.prepare(order.agent)
        session = "--resume" if order.resume else "--session-id"
        argv = [str(program.path), f"{session}={order.session_id}"]
        plugin = install_plugin(self.state, order.agent, tools=order.offers_tools)
        argv += ["--plugin-dir", str(plugin)]
        if order.offers_tools:
            argv += [f"--allow-tool={SERVER}"]  # the supervisor decides which calls are allowed
        argv += permission_arguments(order.permission_mode)
        if order.model:
            argv += ["--model", order.model]
        argv += [*order.arguments]
        folder = self.state.absolute() / PROMPTS / order.run
        prompt = folder / f"prompt-{secrets.token_hex(8)}.md" if order.prompt else None
        if prompt:
            argv += ["--add-dir", str(folder), "--interactive", IN_A_FILE.format(prompt)]
        return Launch(
            argv=argv,
            directory=order.directory,
            environment={
                **without_tmux(order.environment),
                "COCKPIT_AGENT": order.agent,
                "COCKPIT_RUN": order.run,
            },
            prompt=order.prompt,
            prompt_folder=folder,
            prompt_file=prompt,
        )

    def nearest_mode(self, mode: str, rights: Rights) -> str:
        return nearest(SURE_MODES, mode, rights)

    def transcript(self, order: SessionOrder) -> Path | None:
        folder = session_folder(order.session_id, order.environment)
        return folder / TRANSCRIPT if folder else None

    def resumable(self, order: SessionOrder) -> None:
        check_resumable(order.session_id, order.directory, order.environment)

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

        `mid_turn` arrives with the next tool result. `at_end`, unless it is None, arrives at the
        end of the turn, which then continues.
        """
        answers = {"PostToolUse": self.context("PostToolUse", mid_turn)}
        if at_end is not None:
            answers["Stop"] = block("Stop", at_end)
        self.responses.ask(agent, answers)
        return True

    def context(self, event: str, text: str) -> dict[str, Any]:
        return {"additionalContext": bounded(text)}

    async def answer_aside(
        self, order: SessionOrder, program: Program, question: str, deadline: float
    ) -> Aside:
        """Return the answer of a copy of the session; see `copy_session.ask_copy`."""
        order = replace(order, directory=copies_folder(self.state))
        # Processes that the copy starts get the agent's rights only.
        environment = {**without_tmux(order.environment), "COCKPIT_RUN": order.run}
        return await ask_copy(program.path, order, question, environment, deadline)
